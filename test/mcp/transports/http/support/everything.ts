import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { everything } from '../../../support/servers.ts';

/** The reference server of the MCP project over HTTP, in its own process. */
export async function startEverything(kind: 'streamableHttp' | 'sse') {
  const port = await freePort();
  const [script = ''] = everything.args ?? [];
  const child = spawn(process.execPath, [script, kind], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ready = Promise.withResolvers<void>();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    if (/on port \d+/.test(said)) ready.resolve();
  });
  child.on('exit', () => ready.reject(new Error(`it ended: ${said}`)));
  const exited = once(child, 'exit');
  await ready.promise;
  return {
    url: `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
