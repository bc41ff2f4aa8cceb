import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { startTimer } from '../../../base/async/timers.ts';
import { isEqualJson, isRecord } from '../../../base/json-value.ts';
import { armKillOnDeath, killOnDeath } from '../../../base/process/kill-on-death.ts';
import { ProcessGroup } from '../../../base/process/process-group.ts';
import type { ConnectContext } from '../../connection/connect-context.ts';
import { HostError } from '../../errors/host-error.ts';
import { serverEnvironment } from '../stdio/server-environment.ts';

/** The headers of an entry; those of its helper are requested once and cached. */
export class RequestHeaders {
  readonly #fixed: Readonly<Record<string, string>>;
  readonly #help: ((signal: AbortSignal) => Promise<Record<string, string>>) | undefined;
  readonly #life = new AbortController();
  #current: Promise<Readonly<Record<string, string>>> | undefined;
  #known: Readonly<Record<string, string>> | undefined;

  constructor(
    fixed: Readonly<Record<string, string>> = {},
    help?: (signal: AbortSignal) => Promise<Record<string, string>>,
  ) {
    this.#fixed = lowered(fixed);
    this.#help = help;
    if (!help) this.#known = this.#fixed;
  }

  /** Available at once except the first time; names are in lower case. */
  get(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#known ?? this.#current ?? this.#runHelper();
  }

  /** Replaces headers that the server refused; undefined if there is no helper. Concurrent refusals share one run. */
  async renew(
    refused: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    if (!this.#help) return undefined;
    if (this.#known === refused) this.#known = undefined;
    const renewed = await this.get();
    return isEqualJson(renewed, refused) ? undefined : renewed;
  }

  /** Stops a running helper and resolves once it has ended. */
  async close(): Promise<void> {
    this.#life.abort();
    await this.#current?.catch(() => {});
  }

  async #runHelper(): Promise<Readonly<Record<string, string>>> {
    const running = (this.#help?.(this.#life.signal) ?? Promise.resolve({})).then((own) => ({
      ...this.#fixed,
      ...lowered(own),
    }));
    this.#current = running;
    try {
      this.#known = await running;
      return this.#known;
    } finally {
      this.#current = undefined;
    }
  }
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const LIMIT_MS = 10_000;
const LIMIT_BYTES = 64 * 1024;

/** Time limit and abort signal of a helper. */
type HelperLimits = { limitMs?: number; signal?: AbortSignal };

/**
 * Runs an entry's `headersHelper` with a minimal environment; errors do not show what it prints. When the promise settles,
 * all processes of the helper have ended.
 */
export async function runHeadersHelper(
  name: string,
  { url, headersHelper }: { url: string; headersHelper: string },
  context: ConnectContext,
  { limitMs = LIMIT_MS, signal }: HelperLimits = {},
): Promise<Record<string, string>> {
  const fail = (error: string) => new HostError('bad-config', name, `its "headersHelper" ${error}`);
  if (signal?.aborted) throw fail(STOPPED);
  const { child, end: endGroup } = startHelper(headersHelper, {
    env: serverEnvironment(
      context.env,
      { env: { TOOLPLANE_SERVER: name, TOOLPLANE_URL: url } },
      process.platform,
    ),
    ...(context.cwd !== undefined && { cwd: context.cwd }),
  });
  const { printed, end } = await outputOf(child, limitMs, signal);
  await endGroup();
  if (end === 'stopped') throw fail(STOPPED);
  if (end === 'late') throw fail(`did not finish within ${limitMs} ms; run it by hand to see why`);
  if (end === 'long') throw fail(`printed more than ${LIMIT_BYTES} bytes; it must print only the headers`);
  if (end !== 0) {
    const outcome =
      typeof end === 'number' ? `exited with code ${end}` : 'could not be run, or was ended by a signal';
    throw fail(`${outcome}; run it by hand to see why`);
  }
  const headers = parseHelperOutput(printed);
  if (typeof headers === 'string') throw fail(headers);
  return headers;
}

const STOPPED = 'was stopped, because the connection was closed';
/** Time for killed processes to disappear. */
const LAST_MS = 1000;

type Helper = ChildProcessByStdio<null, Readable, null>;
type HelperEnd = number | 'stopped' | 'late' | 'long' | 'unrunnable';

/** Starts the helper. Its processes end with the host at the latest; `end` ends them now and waits for that. */
function startHelper(
  command: string,
  surroundings: { env: Record<string, string>; cwd?: string },
): { child: Helper; end: () => Promise<void> } {
  const isPosix = process.platform !== 'win32';
  const disarm = armKillOnDeath();
  try {
    // Its stderr is discarded, since it may contain the token.
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    const more = { shell: true, detached: isPosix, windowsHide: true, stdio };
    const child = spawn(command, { ...surroundings, ...more });
    if (!isPosix || child.pid === undefined) return { child, end: async () => {} };
    const group = new ProcessGroup(child.pid);
    const release = killOnDeath(-child.pid);
    const end = async () => {
      if (group.signal('SIGKILL')) await group.isGone(LAST_MS);
      release();
    };
    return { child, end };
  } finally {
    disarm();
  }
}

/** Resolves when the helper has exited, or when a limit is reached. */
async function outputOf(
  child: Helper,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<{ printed: string; end: HelperEnd }> {
  const { promise, resolve } = Promise.withResolvers<HelperEnd>();
  let printed = '';
  const stop = () => resolve('stopped');
  const timer = startTimer(limitMs, () => resolve('late'));
  signal?.addEventListener('abort', stop);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.length > LIMIT_BYTES) resolve('long');
  });
  child.on('error', () => resolve('unrunnable'));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  Promise.all([exited, once(child.stdout, 'close')]).then(
    ([[code]]) => resolve(code ?? 'unrunnable'),
    () => resolve('unrunnable'),
  );
  const end = await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  child.kill('SIGKILL');
  child.stdout.destroy();
  return { printed, end };
}

/** Parses the headers that a helper printed, or returns why they are invalid; names are shown, values are not. */
export function parseHelperOutput(text: string): Record<string, string> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'must print one JSON object of headers, but its output is not JSON';
  }
  if (!isRecord(value) || Array.isArray(value))
    return 'must print one JSON object of headers, but printed a JSON value of another type';
  for (const [header, content] of Object.entries(value)) {
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(header)) return 'printed an invalid header name';
    if (typeof content !== 'string') return `printed a value of "${header}" that is not a string`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(content))
      return `printed a value of "${header}" that is not a valid header value`;
  }
  return value as Record<string, string>;
}
