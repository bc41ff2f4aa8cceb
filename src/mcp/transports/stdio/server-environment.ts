import { delimiter, isAbsolute, relative, resolve, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

type Environment = Readonly<Record<string, string | undefined>>;

/** The members of an entry that set the environment. */
type OwnVariables = {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly inheritEnv?: readonly string[] | undefined;
};

/**
 * The environment of a server process: the variables that programs need to run and to reach the network, those named in
 * `inheritEnv`, and `env` of the entry.
 */
export function serverEnvironment(
  base: Environment,
  { env: own = {}, inheritEnv = [] }: OwnVariables = {},
  platform: NodeJS.Platform = 'linux',
): Record<string, string> {
  const isWindows = platform === 'win32';
  // Variable names are case-insensitive on Windows; the spelling of the entry replaces the others.
  const same = (name: string) => (isWindows ? name.toUpperCase() : name);
  const owned = new Set(Object.keys(own).map(same));
  const wanted = new Set(inheritEnv.map(same));
  const inherited = Object.entries(base).filter(([name, value]) => {
    // Exported shell functions are code that a server could run.
    if (value === undefined || value.startsWith('()') || owned.has(same(name))) return false;
    return wanted.has(same(name)) || isInherited(name, platform);
  });
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...own };
}

/** Whether every server inherits the variable, regardless of its entry. */
export function isInherited(name: string, platform: NodeJS.Platform): boolean {
  if (FOR_NETWORK.has(name) || PROXIES.has(name.toUpperCase()) || isNpmSetting(name)) return true;
  return platform === 'win32'
    ? ON_WINDOWS.has(name.toUpperCase())
    : ON_POSIX.has(name) || name.startsWith('LC_');
}

/** Lower-case names are common too. */
const PROXIES: ReadonlySet<string> = new Set(['ALL_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']);

/** Certificate authorities of the network, as runtimes and libraries read them. */
const FOR_NETWORK: ReadonlySet<string> = new Set([
  'AWS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'DENO_CERT',
  'GIT_SSL_CAINFO',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'UV_NATIVE_TLS',
]);

/**
 * Settings of npm, such as registry, cache and proxy, but neither credentials nor settings that make npm run other
 * programs: npm sets some of those itself when it runs the host in a project.
 */
function isNpmSetting(name: string): boolean {
  const [, setting] = /^npm_config_(.+)$/i.exec(name) ?? [];
  if (setting === undefined) return false;
  const plain = setting.toLowerCase().replaceAll('-', '_');
  return !NOT_OF_NPM.has(plain) && !/_auth|password|token|^(?:key|otp)$|^\/\//.test(plain);
}

const NOT_OF_NPM: ReadonlySet<string> = new Set([
  'call',
  'editor',
  'git',
  'global',
  'include_workspace_root',
  'init_module',
  'local_prefix',
  'location',
  'node_gyp',
  'node_options',
  'onload_script',
  'package',
  'script_shell',
  'shell',
  'viewer',
  'workspace',
  'workspaces',
]);

const ON_POSIX: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
]);

const ON_WINDOWS = new Set([
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LANG',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TZ',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
]);

/**
 * The environment without directories in `PATH` from which a project could supply programs: relative ones, and the
 * `node_modules/.bin` that npm adds for the project when it runs the host.
 */
export function withoutProjectPath(env: Environment, project: string): Environment {
  const isOfProject = (it: string) =>
    !isAbsolute(it) || (/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(it) && isInside(resolve(it), project));
  const changed = Object.entries(env).map(([name, value]) => {
    if (name.toUpperCase() !== 'PATH' || value === undefined) return [name, value] as const;
    const kept = value.split(delimiter).filter((it) => !isOfProject(it));
    return [name, kept.join(delimiter)] as const;
  });
  return Object.fromEntries(changed);
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A variable that a server reported missing. */
export type MissingVariable = {
  readonly name: string;
  /** Whether the host has the variable but did not pass it on. */
  readonly isWithheld: boolean;
};

/**
 * The environment variable that a server reports as missing in its stderr; the last such line counts. `given` is the
 * environment of the process, `host` the one it would have if it were run by hand.
 */
export function missingVariable(
  lines: readonly string[],
  { given, host }: { readonly given: Environment; readonly host: Environment },
): MissingVariable | undefined {
  for (const line of lines.toReversed()) {
    const name = namesIn(line.slice(0, MAX_LINE)).find(
      (it) => !given[it] && (isNeeded(line, it) || host[it]),
    );
    if (name !== undefined) return { name, isWithheld: Boolean(host[name]) };
  }
  return undefined;
}

/** The remedy, for the command line and for an entry. */
export function missingVariableAdvice({ name, isWithheld }: MissingVariable): string {
  if (isWithheld) {
    return `${name} is set in your environment, but servers inherit only a few variables; pass it on with the option -e ${name}='\${${name}}' of toolplane mcp add, or "inheritEnv": ["${name}"] in the entry of the server`;
  }
  return `${name} is not set; set it with the option -e ${name}=… of toolplane mcp add, or "env": { "${name}": "…" } in the entry of the server`;
}

const MAX_LINE = 2000;

/** Names of variables in upper case, except error codes. */
function namesIn(line: string): string[] {
  // Without terminal colors.
  const plain = stripVTControlCharacters(line);
  const names = plain.match(/(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?![A-Za-z0-9_])/g) ?? [];
  return [...new Set(names)].filter((it) => it.length > 2 && !/^(?:ERR_|E[A-Z]+$|.*_NOT_FOUND$)/.test(it));
}

/** Whether the line says that the variable is required; a name without `_` counts only if the line is about variables. */
function isNeeded(line: string, name: string): boolean {
  const isVariable =
    name.includes('_') || /\benv(?:iron(?:ment)?)?\b|\bvariables?\b|process\.env|os\.environ/i.test(line);
  return isVariable && NEEDED.test(line);
}

const NEEDED =
  /\b(?:missing|required?|requires|needs?|needed|must|unset|undefined|empty|expected|provide|specify|define|export|please|KeyError|without|no)\b|\bnot (?:been )?(?:set|found|provided|defined|configured|specified|present|given)\b|\b(?:set|isn't|wasn't|cannot find|could not find)\b/i;
