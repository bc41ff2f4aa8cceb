// How the examples start the servers beside this file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A server of this directory on its stdin and stdout: `toolplane serve <file>`. */
export function serve(file: string): { command: string; args: string[] } {
  const args = [...process.execArgv, here('../../src/cli/main.ts'), 'serve', here(`./${file}`)];
  return { command: process.execPath, args };
}

/** The deployment server, on http; it ends with its stdin. */
export async function startDeploy(): Promise<{ url: string } & Disposable> {
  const web = spawn(process.execPath, [...process.execArgv, here('./deploy-http.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(web.stdout), 'line')) as [string];
  return { url, [Symbol.dispose]: () => void web.stdin.end() };
}
