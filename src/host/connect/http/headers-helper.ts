import { spawn } from 'node:child_process';
import { isRecord } from '../../../base/is-record.ts';
import { ProcessGroup } from '../../../base/process-group.ts';
import { startTimer } from '../../../base/timer.ts';
import { HostError } from '../host-error.ts';
import { leastEnvironment } from '../stdio/least-environment.ts';
import type { ConnectWorld } from '../world.ts';

const LIMIT_MS = 10_000;
const LIMIT_BYTES = 64 * 1024;

/** Runs an entry's `headersHelper` with the least environment; rejects without showing what it printed. */
export async function runHeadersHelper(
  name: string,
  { url, headersHelper }: { url: string; headersHelper: string },
  world: ConnectWorld,
  limitMs = LIMIT_MS,
): Promise<Record<string, string>> {
  const own = { TOOLPLANE_SERVER: name, TOOLPLANE_URL: url };
  const isPosix = process.platform !== 'win32';
  const child = spawn(headersHelper, {
    shell: true,
    detached: isPosix,
    windowsHide: true,
    env: leastEnvironment(world.env, own),
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(world.cwd !== undefined && { cwd: world.cwd }),
  });
  let printed = '';
  let end: number | 'late' | 'long' | 'unrunnable' | undefined;
  const stop = (why: 'late' | 'long') => {
    end ??= why;
    if (isPosix && child.pid !== undefined) new ProcessGroup(child.pid).signal('SIGKILL');
    else child.kill('SIGKILL');
    child.stdout.destroy();
  };
  const timer = startTimer(limitMs, () => stop('late'));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.length > LIMIT_BYTES) stop('long');
  });
  await new Promise<void>((resolve) => {
    child.on('error', () => {
      end ??= 'unrunnable';
      resolve();
    });
    child.on('close', (code) => {
      end ??= code ?? 'unrunnable';
      resolve();
    });
  });
  clearTimeout(timer);
  const fail = (fault: string) => new HostError('bad-config', name, `its "headersHelper" ${fault}`);
  if (end === 'late') throw fail(`did not finish within ${limitMs} ms`);
  if (end === 'long') throw fail(`printed more than ${LIMIT_BYTES} bytes`);
  if (end !== 0) throw fail(typeof end === 'number' ? `ended with exit code ${end}` : 'could not be run');
  const headers = parseHelperOutput(printed);
  if (typeof headers === 'string') throw fail(headers);
  return headers;
}

/** The headers a helper printed, or what is wrong with them; that says names but never values. */
export function parseHelperOutput(text: string): Record<string, string> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must print one JSON object of headers, and what it printed is no JSON';
  }
  if (!isRecord(value) || Array.isArray(value)) return 'must print one JSON object of headers';
  for (const [header, content] of Object.entries(value)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header)) return 'printed a name that no header can have';
    if (typeof content !== 'string') return `printed a "${header}" that is no string`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(content)) return `printed a "${header}" that no header can hold`;
  }
  return value as Record<string, string>;
}
