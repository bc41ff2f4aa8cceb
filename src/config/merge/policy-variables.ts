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
  return found === undefined || /^[\w.-]{1,64}$/.test(found) ? found : 'a variable of an odd name';
}

function isHarmless(written: string): boolean {
  // Systems differ in whether letters are told apart; in doubt it is the variable.
  const name = written.toUpperCase();
  if (HARMLESS.has(name)) return true;
  if (OF_LOADERS.test(name)) return false;
  return CREDENTIAL.test(name) || (ADDRESS.test(name) && !OF_CODE.test(name));
}

/** Many entries set these, and they lead nowhere else. */
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

/** What tells a service who asks: keys, tokens, passwords, and names and numbers of accounts. */
const CREDENTIAL =
  /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|(?:API|ACCESS)?_?KEY|APIKEY|CREDENTIALS?|DSN|CONNECTION_STRING|ID|USER|USERNAME|LOGIN|EMAIL|REGION|LOG_LEVEL)$/;

/** Where a service is that the server uses, `JIRA_URL`; but not where programs fetch code, `SOME_REGISTRY_URL`. */
const ADDRESS = /_(?:URL|URI|HOST|PORT|DATABASE)$/;
const OF_CODE =
  /BINAR|BUNDLE|CDN|CODE|DIST|DOWNLOAD|EXTENSION|FETCH|IMAGE|INDEX|INSTALL|LIB|LOAD|MIRROR|MODULE|PACKAGE|PLUGIN|PROXY|REGISTRY|RELEASE|REPO|SCRIPT|UPDATE/;

/** Families of variables that loaders, shells and package managers read, whatever their names end with. */
const OF_LOADERS =
  /^(?:BASH|BUNDLE_|BUN_|CARGO_|COREPACK_|CORECLR_|COR_|DENO_|DOCKER_|DOTNET_|DYLD_|GCONV_|GEM_|GIT_|JAVA_|JDK_|LD_|LUA_|NODE_|NPM_CONFIG|OPENSSL_|PERL|PHP|PIPX_|PIP_|PNPM_|PYTHON|R_|RUBY|RUSTC|SSL_|UV_|XDG_|YARN_)|^(?:HOME|PATH|SHELL|USER|LOGNAME)$/;
