import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../fixtures/listen.ts';
import { serveSse } from '../fixtures/serve-sse.ts';
import { serveWs } from '../fixtures/serve-ws.ts';
import type { Far } from './set-up.ts';

/** A running editor: the host knows only its lock file, and the editor accepts only the token in that file. */
export async function startIde(type: 'ws-ide' | 'sse-ide'): Promise<Far> {
  const folder = await mkdtemp(join(tmpdir(), 'contract-ide-'));
  const token = 'token-of-the-editor';
  const far = await listen(
    type === 'ws-ide' ? serveWs('legacy') : serveSse,
    ({ headers }) => headers['x-claude-code-ide-authorization'] === token,
  );
  const lock = {
    pid: process.pid,
    workspaceFolders: [folder],
    ideName: 'Contract Editor',
    transport: type === 'ws-ide' ? 'ws' : 'sse',
    authToken: token,
  };
  await mkdir(join(folder, 'ide'));
  await writeFile(join(folder, 'ide', `${far.port}.lock`), JSON.stringify(lock));
  return {
    ...far,
    entry: { type },
    options: { cwd: folder, env: { PATH: process.env.PATH, CLAUDE_CONFIG_DIR: folder } },
    async [Symbol.asyncDispose]() {
      await far.stop();
      await rm(folder, { recursive: true });
    },
  };
}
