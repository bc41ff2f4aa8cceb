import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MessagesApi, type Script, startMessagesApi } from '../../support/model-api/messages-api.ts';

/** Where our agent runs in tests: an own directory and home, and a scripted Messages API as its model. */
export interface AgentWorld extends AsyncDisposable {
  readonly api: MessagesApi;
  readonly cwd: string;
  /** The whole environment; the agent runs on the Node of the tests. */
  readonly env: Record<string, string>;
}

export async function openAgentWorld(script: Script = []): Promise<AgentWorld> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'agent-world-')));
  const api = await startMessagesApi(script);
  return {
    api,
    cwd,
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      HOME: cwd,
      PATH: process.env.PATH ?? '',
      TOOLPLANE_NODE: process.execPath,
      ANTHROPIC_API_KEY: 'dummy',
      ANTHROPIC_BASE_URL: api.url,
    },
    async [Symbol.asyncDispose]() {
      await api.close();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}
