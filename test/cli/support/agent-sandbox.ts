import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MessagesApi, type Script, startMessagesApi } from '../../support/model-api/messages-api.ts';

/** A directory, home and scripted Messages API for the agent in tests. */
export interface AgentSandbox extends AsyncDisposable {
  readonly api: MessagesApi;
  readonly cwd: string;
  /** The whole environment; the agent runs on the Node of the tests. */
  readonly env: Record<string, string>;
}

export async function openAgentSandbox(script: Script = []): Promise<AgentSandbox> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'agent-sandbox-')));
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
