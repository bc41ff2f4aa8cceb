import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { StdioServerEntry } from '../../../../src/protocol/server-entry.ts';
import { COMPILE_CACHE } from '../../../support/compile-cache.ts';

const inPeers = (path: string) =>
  fileURLToPath(new URL(`../../../../interop/node_modules/${path}`, import.meta.url));
const EVERYTHING = inPeers('@modelcontextprotocol/server-everything/dist/index.js');

/** Third-party servers, each in its own process. */
export const PROCESSES = {
  everything: node(EVERYTHING, 'stdio'),
  filesystem: (folder: string) =>
    node(inPeers('@modelcontextprotocol/server-filesystem/dist/index.js'), folder),
  memory: (file: string): StdioServerEntry => ({
    ...node(inPeers('@modelcontextprotocol/server-memory/dist/index.js')),
    env: { ...COMPILE_CACHE, MEMORY_FILE_PATH: file },
  }),
  context7: node(inPeers('@upstash/context7-mcp/dist/index.js')),
  python: {
    command: 'python3',
    args: [fileURLToPath(new URL('../fixtures/server.py', import.meta.url))],
  } satisfies StdioServerEntry,
};

/** The reference server on its own port, with its URL. */
export async function startEverything(transport: 'streamableHttp' | 'sse') {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await saysWhere(child, port);
  return {
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function node(script: string, ...args: string[]): StdioServerEntry {
  return { command: process.execPath, args: [script, ...args], env: COMPILE_CACHE };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Settles once the server reports its port. Its stderr is read further, because a closed pipe would end the server. */
function saysWhere(child: ChildProcess, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk;
      if (said.includes(`port ${port}`)) resolve();
    });
    child.once('exit', () => reject(new Error(`the server did not start: ${said}`)));
  });
}
