import { isRecord } from '../../base/json-value.ts';
import type { ExternalServerEntry, IdeServerEntry } from '../../protocol/server-entry.ts';
import { normalizeName } from '../../protocol/tool-name.ts';
import {
  allowsUrl,
  deniesUrl,
  type NormalizedUrl,
  normalizeUrl,
  parseUrlPattern,
  type UrlPattern,
} from './url-pattern.ts';

/** One row of `allowedMcpServers` or `deniedMcpServers`. */
export type PolicyRow =
  | { readonly by: 'serverName'; readonly name: string }
  /**
   * The exact command and arguments; the `cwd` that an entry must have, by default none; and the names of variables that
   * its `env` and `inheritEnv` may have in addition to credentials and harmless ones.
   */
  | CommandRow
  | { readonly by: 'serverUrl'; readonly pattern: UrlPattern };

type CommandRow = {
  readonly by: 'serverCommand';
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly env: readonly string[];
};

/** Parses a row; `fault` is the reason why it is invalid. */
export function readPolicyRow(raw: unknown): PolicyRow | { readonly by: 'nothing'; readonly fault: string } {
  const nothing = (fault: string) => ({ by: 'nothing', fault }) as const;
  const members = isRecord(raw) ? Object.keys(raw) : [];
  // An unknown member is refused, because it may be meant to narrow the row.
  const more = members.includes('serverCommand') ? members.filter((it) => it === 'cwd' || it === 'env') : [];
  if (!isRecord(raw) || members.length - more.length !== 1)
    return nothing(
      'a row must have exactly one of serverName, serverCommand and serverUrl; only serverCommand may also have cwd and env',
    );
  const { serverName, serverCommand, serverUrl } = raw;
  if (isText(serverName)) {
    if (!serverName.includes('*')) return { by: 'serverName', name: serverName };
    return nothing(
      'serverName does not support patterns; use serverCommand or serverUrl, or name each server',
    );
  }
  if (Array.isArray(serverCommand) && isText(serverCommand[0]) && serverCommand.every(isString))
    return commandRow(serverCommand, raw);
  const pattern = isText(serverUrl) ? parseUrlPattern(serverUrl) : undefined;
  if (pattern) return { by: 'serverUrl', pattern };
  const [member = ''] = members;
  const rule = RULES.get(member);
  return nothing(
    rule === undefined ? 'only serverName, serverCommand and serverUrl are supported' : `${member} ${rule}`,
  );
}

function commandRow(
  argv: readonly string[],
  { cwd, env = [] }: Readonly<Record<string, unknown>>,
): CommandRow | { readonly by: 'nothing'; readonly fault: string } {
  if (cwd !== undefined && !(isText(cwd) && /^(?:[\\/]|[a-z]:[\\/])/i.test(cwd)))
    return { by: 'nothing', fault: '"cwd" must be an absolute path' };
  if (!Array.isArray(env) || !env.every(isText))
    return { by: 'nothing', fault: '"env" must be a list of variable names' };
  return { by: 'serverCommand', argv, ...(cwd !== undefined && { cwd }), env };
}

const isString = (value: unknown): value is string => typeof value === 'string';
const isText = (value: unknown): value is string => isString(value) && value !== '';

const RULES: ReadonlyMap<string, string> = new Map([
  ['serverName', 'must be the name of a server'],
  ['serverCommand', 'must be a list: the command and each of its arguments'],
  ['serverUrl', 'must be a pattern such as https://*.example.com/*, without user, fragment or spaces'],
]);

/** The server that a policy is applied to. */
export type PolicySubject = {
  readonly name: string;
  readonly entry: ExternalServerEntry;
  /** `written`: the values of `${…}` are not known yet. */
  readonly stage: 'written' | 'expanded';
};

/** `maybe`: it depends on the values of variables. */
export type Match = 'yes' | 'no' | 'maybe';

/** The kind of rows that a server must match if an allow list has such rows. */
export function ownKind({ entry }: PolicySubject): 'serverCommand' | 'serverUrl' {
  return argvOf(entry) ? 'serverCommand' : 'serverUrl';
}

/** Names must be equal; a URL that cannot be parsed is not allowed. */
export function matchAllowed(row: PolicyRow, judged: PolicySubject): Match {
  switch (row.by) {
    case 'serverName':
      return row.name === judged.name ? 'yes' : 'no';
    case 'serverCommand':
      return matchCommand(row.argv, judged);
    case 'serverUrl':
      return matchUrl(judged, 'no', ([dialled]) => dialled !== undefined && allowsUrl(row.pattern, dialled));
  }
}

/** Whether the `cwd` of an entry is that of the row; without `cwd` in the row, the entry must have none. */
export function matchDirectory({ cwd: wanted }: CommandRow, { entry, stage }: PolicySubject): Match {
  const { cwd } = entry as { readonly cwd?: unknown };
  if (cwd === undefined) return wanted === undefined ? 'yes' : 'no';
  if (wanted === undefined) return 'no';
  if (stage === 'written' && String(cwd).includes('${')) return 'maybe';
  return String(cwd).replace(/(?<=.)[\\/]$/, '') === wanted.replace(/(?<=.)[\\/]$/, '') ? 'yes' : 'no';
}

/** Names match if they normalize to the same identifier; a URL that cannot be parsed is denied. */
export function matchDenied(row: PolicyRow, judged: PolicySubject): Match {
  switch (row.by) {
    case 'serverName':
      return normalizeName(row.name) === normalizeName(judged.name) ? 'yes' : 'no';
    case 'serverCommand':
      return anyMatch([matchCommand(row.argv, judged), matchHelper(row.argv, judged)]);
    case 'serverUrl':
      return matchUrl(judged, 'yes', (urls) => urls.some((url) => deniesUrl(row.pattern, url)));
  }
}

/** The `headersHelper` command of an entry with a URL, if any. */
export function helperOf(entry: ExternalServerEntry): string | undefined {
  const { headersHelper } = entry as { readonly headersHelper?: unknown };
  return argvOf(entry) || headersHelper === undefined ? undefined : String(headersHelper);
}

/** A helper is one shell command line: a row has it as one string, or word by word. */
export function matchHelper(wanted: readonly string[], { entry, stage }: PolicySubject): Match {
  const helper = helperOf(entry);
  if (helper === undefined) return 'no';
  if (stage === 'written' && helper.includes('${')) return 'maybe';
  const words = helper.trim().split(/\s+/);
  const isWordByWord = words.length === wanted.length && words.every((word, index) => word === wanted[index]);
  return isWordByWord || (wanted.length === 1 && wanted[0] === helper) ? 'yes' : 'no';
}

/** The result if one match is enough. */
export function anyMatch(matches: readonly Match[]): Match {
  return matches.find((it) => it === 'yes') ?? matches.find((it) => it === 'maybe') ?? 'no';
}

/** The result if all have to match. */
export function allMatch(matches: readonly Match[]): Match {
  return matches.find((it) => it === 'no') ?? matches.find((it) => it === 'maybe') ?? 'yes';
}

/** Whether the headers of an entry set `Host`, which selects another server at the same address. */
export function setsHostHeader(entry: ExternalServerEntry): boolean {
  const { headers } = entry as { readonly headers?: unknown };
  return isRecord(headers) && Object.keys(headers).some((name) => name.toLowerCase() === 'host');
}

function matchCommand(wanted: readonly string[], { entry, stage }: PolicySubject): Match {
  const argv = argvOf(entry);
  if (argv?.length !== wanted.length) return 'no';
  const isOpen = (text: string) => stage === 'written' && text.includes('${');
  if (!argv.every((text, index) => text === wanted[index] || isOpen(text))) return 'no';
  return argv.some(isOpen) ? 'maybe' : 'yes';
}

function matchUrl(
  { entry, stage }: PolicySubject,
  unreadable: Match,
  test: (urls: readonly NormalizedUrl[]) => boolean,
): Match {
  if (argvOf(entry)) return 'no';
  if (isEditor(entry) && entry.url === undefined) return test(EDITORS[entry.type]) ? 'yes' : 'no';
  if (!('url' in entry) || !isString(entry.url)) return 'no';
  if (stage === 'written' && entry.url.includes('${')) return 'maybe';
  const url = normalizeUrl(entry.url);
  if (!url) return unreadable;
  return test([url]) ? 'yes' : 'no';
}

function isEditor(entry: ExternalServerEntry): entry is IdeServerEntry {
  return entry.type === 'ws-ide' || entry.type === 'sse-ide';
}

/** Without a URL an editor is searched on this machine; its port is not known in advance. */
const EDITORS: Readonly<Record<IdeServerEntry['type'], readonly NormalizedUrl[]>> = {
  'ws-ide': ['127.0.0.1', '[::1]', 'localhost'].map((host) => ofEditor('ws', host, '/')),
  'sse-ide': ['127.0.0.1', '[::1]', 'localhost'].map((host) => ofEditor('http', host, '/sse')),
};

function ofEditor(scheme: string, host: string, path: string): NormalizedUrl {
  return { scheme, host, port: undefined, path, query: '' };
}

/** Undefined if the entry does not run a command. An entry that a program passes is not validated yet. */
function argvOf(entry: ExternalServerEntry): readonly string[] | undefined {
  if (entry.type !== undefined && entry.type !== 'stdio') return undefined;
  if (!('command' in entry) || entry.command === undefined) return undefined;
  return [entry.command, entry.args ?? []].flat().map(String);
}

const UNPRINTABLE_VARIABLE =
  'a variable whose name is longer than 64 characters or has characters other than letters, digits, "_", "." and "-"';

/**
 * The first variable of an entry that a row of commands does not allow; undefined if there is none. Programs read so many
 * variables when they start that no list of dangerous ones is complete (`JAVA_HOME`, `OPENSSL_CONF`, `GOTOOLCHAIN`), so a
 * row allows the names it lists, names of credentials, identifiers and addresses of services, and a few that only change
 * what is printed.
 */
export function unlistedVariable(entry: object, listed: readonly string[]): string | undefined {
  const { env, inheritEnv } = entry as { readonly env?: unknown; readonly inheritEnv?: unknown };
  const names = [...Object.keys(env ?? {}), ...(Array.isArray(inheritEnv) ? inheritEnv.map(String) : [])];
  const found = names.find((it) => !listed.includes(it) && !isHarmless(it));
  return found === undefined || /^[\w.-]{1,64}$/.test(found) ? found : UNPRINTABLE_VARIABLE;
}

function isHarmless(written: string): boolean {
  // Some systems ignore the case of names.
  const name = written.toUpperCase();
  if (HARMLESS.has(name)) return true;
  if (OF_LOADERS.test(name)) return false;
  return CREDENTIAL.test(name) || (ADDRESS.test(name) && !OF_CODE.test(name));
}

/** Common variables that do not change which code runs. */
const HARMLESS: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'DEBUG',
  'ENVIRONMENT',
  'FORCE_COLOR',
  'LANG',
  'LC_ALL',
  'LOG_LEVEL',
  'NODE_ENV',
  'NO_COLOR',
  'PGDATABASE',
  'PGHOST',
  'PGPASSWORD',
  'PGPORT',
  'PGUSER',
  'PORT',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONIOENCODING',
  'PYTHONUNBUFFERED',
  'PYTHONUTF8',
  'TZ',
  'VERBOSE',
]);

/** Credentials and identifiers of accounts: keys, tokens, passwords, names and numbers. */
const CREDENTIAL =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|(?:API|ACCESS)?_?KEY|APIKEY|CREDENTIALS?|DSN|CONNECTION_STRING|ID|USER|USERNAME|LOGIN|EMAIL|REGION|LOG_LEVEL)$/;

/** Addresses of services, such as `JIRA_URL`, but not of code, such as `SOME_REGISTRY_URL`. */
const ADDRESS = /_(?:URL|URI|HOST|PORT|DATABASE)$/;
const OF_CODE =
  /BINAR|BUNDLE|CDN|CODE|DIST|DOWNLOAD|EXTENSION|FETCH|IMAGE|INDEX|INSTALL|LIB|LOAD|MIRROR|MODULE|PACKAGE|PLUGIN|PROXY|REGISTRY|RELEASE|REPO|SCRIPT|UPDATE/;

/** Families of variables that loaders, shells and package managers read, whatever their names end with. */
const OF_LOADERS =
  /^(?:BASH|BUNDLE_|BUN_|CARGO_|COREPACK_|CORECLR_|COR_|DENO_|DOCKER_|DOTNET_|DYLD_|GCONV_|GEM_|GIT_|JAVA_|JDK_|LD_|LUA_|NODE_|NPM_CONFIG|OPENSSL_|PERL|PHP|PIPX_|PIP_|PNPM_|PYTHON|R_|RUBY|RUSTC|SSL_|UV_|XDG_|YARN_)|^(?:HOME|PATH|SHELL|USER|LOGNAME)$/;
