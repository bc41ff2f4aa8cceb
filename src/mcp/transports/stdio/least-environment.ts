type Environment = Readonly<Record<string, string | undefined>>;

/** What an entry says of its environment. */
type OwnVariables = {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly inheritEnv?: readonly string[] | undefined;
};

/**
 * What a server process gets of the host's environment: what programs need to run and to reach the network, the variables
 * that `inheritEnv` of its entry names, and `env` of its entry.
 */
export function leastEnvironment(
  base: Environment,
  { env: own = {}, inheritEnv = [] }: OwnVariables = {},
  platform: NodeJS.Platform = 'linux',
): Record<string, string> {
  const isWindows = platform === 'win32';
  // Windows does not tell `Path` from `PATH`: the entry's word for it must be the only one.
  const same = (name: string) => (isWindows ? name.toUpperCase() : name);
  const owned = new Set(Object.keys(own).map(same));
  const wanted = new Set(inheritEnv.map(same));
  const inherited = Object.entries(base).filter(([name, value]) => {
    // A shell's exported function is code, which a server would run.
    if (value === undefined || value.startsWith('()') || owned.has(same(name))) return false;
    return wanted.has(same(name)) || isInherited(name, platform);
  });
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...own };
}

/** Whether every server gets the variable, whatever its entry says. */
export function isInherited(name: string, platform: NodeJS.Platform): boolean {
  if (FOR_NETWORK.has(name) || PROXIES.has(name.toUpperCase()) || isNpmSetting(name)) return true;
  return platform === 'win32'
    ? ON_WINDOWS.has(name.toUpperCase())
    : ON_POSIX.has(name) || name.startsWith('LC_');
}

/** `http_proxy` is usual, too. */
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
 * Settings of npm, such as the registry, the cache and the proxy, but neither credentials nor what has npm look for or run
 * other programs: npm sets some of those itself when it runs us in a project.
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
