/**
 * The first variable that may make a command run something else than it says, or its family, such as `LD_*`; undefined
 * if there is none.
 */
export function loadingVariable(entry: object): string | undefined {
  const { env } = entry as { readonly env?: unknown };
  for (const written of Object.keys(env ?? {})) {
    // Systems differ in whether letters are told apart; in doubt it is the variable.
    const name = written.toUpperCase();
    if (HARMLESS.has(name)) continue;
    if (NAMES.has(name)) return name;
    const family = FAMILIES.find((start) => name.startsWith(start));
    if (family !== undefined) return `${family}*`;
  }
  return undefined;
}

/** Many entries set these, and they lead nowhere else. */
const HARMLESS: ReadonlySet<string> = new Set([
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONIOENCODING',
  'PYTHONUNBUFFERED',
  'PYTHONUTF8',
]);

const NAMES: ReadonlySet<string> = new Set([
  // Where programs, and what they read when they begin, are looked for.
  'APPDATA',
  'COMSPEC',
  'HOME',
  'PATH',
  'PATHEXT',
  'SHELL',
  'USERPROFILE',
  'XDG_CONFIG_HOME',
  // Shells.
  'BASHOPTS',
  'BASH_ENV',
  'ENV',
  'IFS',
  'PROMPT_COMMAND',
  'PS4',
  'SHELLOPTS',
  'ZDOTDIR',
  // Languages.
  'CLASSPATH',
  'DOTNET_ADDITIONAL_DEPS',
  'DOTNET_STARTUP_HOOKS',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'NODE_OPTIONS',
  'NODE_PATH',
  'PHPRC',
  'PHP_INI_SCAN_DIR',
  'RUBYLIB',
  'RUBYOPT',
  '_JAVA_OPTIONS',
  // What fetches a program before it runs it, and from where.
  'DOCKER_CONFIG',
  'DOCKER_CONTEXT',
  'DOCKER_HOST',
  'GOFLAGS',
  'GOPROXY',
  'GIT_ASKPASS',
  'GIT_EDITOR',
  'GIT_EXEC_PATH',
  'GIT_PAGER',
  'GIT_PROXY_COMMAND',
  'GIT_TEMPLATE_DIR',
]);

const FAMILIES = [
  'BASH_FUNC_',
  'BUNDLE_',
  'BUN_',
  'CARGO_',
  'COREPACK_',
  'CORECLR_',
  'COR_',
  'DENO_',
  'DYLD_',
  'GCONV_',
  'GEM_',
  'GIT_CONFIG',
  'GIT_EXTERNAL',
  'GIT_SSH',
  'LD_',
  'LUA_',
  'NPM_CONFIG_',
  'PERL',
  'PIPX_',
  'PIP_',
  'PNPM_',
  'PYTHON',
  'RUSTC',
  'UV_',
  'YARN_',
];
