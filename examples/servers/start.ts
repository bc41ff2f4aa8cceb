// Starts the servers in this directory for the examples.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A stdio entry for a server of this directory: `toolplane serve <file>`. */
export function serve(file: string): { command: string; args: string[] } {
  const args = [...process.execArgv, here('../../src/cli/main.ts'), 'serve', here(`./${file}`)];
  return { command: process.execPath, args };
}

/** Starts the deployment server over HTTP; it exits when its stdin closes. */
export async function startDeploy(): Promise<{ url: string } & Disposable> {
  const web = spawn(process.execPath, [...process.execArgv, here('./deploy-http.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(web.stdout), 'line')) as [string];
  return { url, [Symbol.dispose]: () => void web.stdin.end() };
}
