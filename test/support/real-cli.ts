import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MessagesApi, type Script, startMessagesApi } from './model-api/messages-api.ts';

/** A real agent CLI in isolation: its own home, its own directory, a scripted model. */
export interface CliSandbox extends AsyncDisposable {
  readonly api: MessagesApi;
  /** The path of the executable. */
  readonly cli: string;
  /** The whole environment to run it in; nothing is inherited but `PATH`. */
  readonly env: Record<string, string>;
  readonly home: string;
  readonly cwd: string;
}

/** `extra` adds to the environment or overrides it; by default every tool is offered inline, none deferred. */
export async function openCliSandbox(
  script: Script,
  extra: Record<string, string> = {},
): Promise<CliSandbox> {
  const cli = findCli();
  const root = await realpath(await mkdtemp(join(tmpdir(), 'cli-world-')));
  const [home, cwd, temp] = [join(root, 'home'), join(root, 'work'), join(root, 'tmp')];
  await Promise.all([home, cwd, temp].map((directory) => mkdir(directory)));
  const api = await startMessagesApi(script);
  return {
    api,
    cli,
    env: { ...scrubbedEnv(home, temp, api.url), ...extra },
    home,
    cwd,
    async [Symbol.asyncDispose]() {
      await api.close();
      // The CLI may still be writing its last session file when its user has stopped listening.
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

/** The CLI that the official SDK's package for this platform contains. */
export function findCli(): string {
  const executable = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const platforms = [`${process.platform}-${process.arch}`, `${process.platform}-${process.arch}-musl`];
  if (isMusl()) platforms.reverse();
  const found = platforms
    .map((platform) => join(PEERS, `claude-agent-sdk-${platform}`, executable))
    .find((path) => existsSync(path));
  if (found) return found;
  throw new Error('The agent CLI is not installed; run: npm --prefix interop ci');
}

const PEERS = fileURLToPath(new URL('../../interop/node_modules/@anthropic-ai', import.meta.url));

function isMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined;
}

function scrubbedEnv(home: string, temp: string, apiUrl: string): Record<string, string> {
  return {
    HOME: home,
    USERPROFILE: home,
    TMPDIR: temp,
    PATH: process.env.PATH ?? '',
    ANTHROPIC_API_KEY: 'sk-ant-dummy',
    ANTHROPIC_BASE_URL: apiUrl,
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ENABLE_TOOL_SEARCH: 'false',
  };
}
