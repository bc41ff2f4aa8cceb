import { execFile } from 'node:child_process';
import { devNull } from 'node:os';
import { promisify } from 'node:util';
import { truncate, visibleText } from '../../base/text/display-text.ts';
import { withoutProjectPath } from '../../mcp/transports/stdio/server-environment.ts';
import { stripHidden } from '../../pool/pinning/hidden-text.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const run = promisify(execFile);

const TIMEOUT_MS = 3_000;
const MAX_OUTPUT_BYTES = 2 ** 20;
const MAX_STATUS_LENGTH = 2_000;
const MAX_LOG_LENGTH = 1_000;
const RECENT_COMMITS = 5;

/**
 * The branch, the main branch, the changes and the last commits of a repository; undefined if git cannot read them. The
 * repository may be untrusted, so git is started such that its configuration runs no program.
 */
export async function gitState(
  root: string,
  cwd: string,
  env: Variables,
  signal: AbortSignal,
): Promise<string | undefined> {
  const git = async (...args: string[]): Promise<string | undefined> => {
    const options = {
      cwd,
      env: gitEnvironment(withoutProjectPath(env, root)),
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
      signal,
      windowsHide: true,
    };
    return run('git', [...SAFE, ...args], options).then(
      ({ stdout }) => stdout.trimEnd(),
      () => undefined,
    );
  };
  const keys = await git('config', '--list', '--includes', '--show-scope', '--name-only', '-z');
  if (keys === undefined) return undefined;
  const [branch, main, status, commits] = await Promise.all([
    git('symbolic-ref', '--quiet', '--short', 'HEAD'),
    mainBranch(git),
    hasFilters(keys)
      ? undefined
      : git('status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty'),
    git('log', '--no-show-signature', '--no-decorate', `--max-count=${RECENT_COMMITS}`, '--format=%h %s'),
  ]);
  if (hasFilters(keys)) return stateText({ branch, main, commits, status: NOT_READ });
  return status === undefined ? undefined : stateText({ branch, main, commits, status });
}

const NOT_READ = '(not read: the configuration of the repository contains filter programs)';

/** Options of every git command: no hooks, no monitor, no signatures, no writes, no transfer of missing objects. */
const SAFE = [
  '--no-pager',
  '--no-optional-locks',
  ...['-c', 'core.fsmonitor=false'],
  ...['-c', `core.hooksPath=${devNull}`],
  ...['-c', 'log.showSignature=false'],
  ...['-c', 'safe.bareRepository=explicit'],
];

/** The variables that git needs to find its program, the user's configuration and nothing else. */
function gitEnvironment(env: Variables): Record<string, string> {
  const names = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'SYSTEMROOT', 'PATHEXT', 'TMPDIR', 'TEMP'];
  const given = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && names.includes(name.toUpperCase()) ? [[name, value] as const] : [],
  );
  return {
    ...Object.fromEntries(given),
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // No protocol has this name: a partial clone fetches nothing, so it starts no transport.
    GIT_ALLOW_PROTOCOL: 'none',
    LC_ALL: 'C',
  };
}

/**
 * Whether the repository's own configuration defines filters, which `git status` would run. Filters of the user's own
 * configuration, such as Git LFS, are programs that the user has chosen.
 */
function hasFilters(listing: string): boolean {
  const parts = listing.split('\0');
  return parts.some(
    (key, at) => at % 2 === 1 && /^filter\./i.test(key) && !OWN_SCOPES.has(parts[at - 1] ?? ''),
  );
}

const OWN_SCOPES: ReadonlySet<string> = new Set(['system', 'global', 'command']);

type Git = (...args: string[]) => Promise<string | undefined>;

async function mainBranch(git: Git): Promise<string | undefined> {
  const remote = await git('symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD');
  if (remote) return remote.replace(/^origin\//, '');
  const listed = await git(
    'for-each-ref',
    '--format=%(refname:short)',
    'refs/heads/main',
    'refs/heads/master',
  );
  return listed?.split('\n')[0] || undefined;
}

function stateText(state: {
  readonly branch: string | undefined;
  readonly main: string | undefined;
  readonly status: string;
  readonly commits: string | undefined;
}): string {
  const { branch, main, status, commits } = state;
  return [
    '# Git state\nThis is the state of the repository at the start of the session; it is not updated.',
    `Current branch: ${shown(branch || '(none: HEAD is detached)', MAX_LOG_LENGTH)}`,
    ...(main === undefined ? [] : [`Main branch: ${shown(main, MAX_LOG_LENGTH)}`]),
    `Status:\n${shown(status === '' ? '(clean)' : status, MAX_STATUS_LENGTH)}`,
    `Recent commits:\n${shown(commits || '(none)', MAX_LOG_LENGTH)}`,
  ].join('\n\n');
}

/** Names of files and subjects of commits come from the repository; each stays on its line. */
function shown(text: string, max: number): string {
  const lines = text.split('\n').map((it) => visibleText(stripHidden(it)));
  return truncate(lines.join('\n'), max, '\n… [cut]');
}
