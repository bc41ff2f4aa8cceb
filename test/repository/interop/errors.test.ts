import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { official } from '../../../interop/official.ts';
import {
  AbortError,
  type Options,
  type Query,
  query,
  type SDKUserMessage,
} from '../../../src/entry/index.ts';

const PACKAGES = {
  official: { query: official.query as typeof query, AbortError: official.AbortError },
  toolplane: { query, AbortError },
};

type Failure = { isAbort: boolean; message: string };
type Row = readonly [what: string, fails: string, use: (run: Run) => Promise<unknown>, Failure];
type Run = { query: Query; abort(): void };

/** The official package has one message with this stand-in and the other with the real CLI. */
const ABORTED = { isAbort: true, message: expect.stringMatching(/^(Operation|Claude Code process) aborted/) };
const CLOSED = { isAbort: false, message: 'Query closed before response received' };
const exited = (how: string) => ({ isAbort: false, message: `Claude Code process ${how}` });

const ROWS: readonly Row[] = [
  ['an abort while iterating', '', ({ query: q, abort }) => during(q.next(), abort), ABORTED],
  ['an abort between two messages', '', ({ query: q, abort }) => after(abort, () => readAll(q)), ABORTED],
  ['an abort during a request', '', ({ query: q, abort }) => during(q.interrupt(), abort), ABORTED],
  ['a request after an abort', '', ({ query: q, abort }) => after(abort, () => askAtEnd(q)), CLOSED],
  ['close() during a request', '', ({ query: q }) => during(q.interrupt(), () => q.close()), CLOSED],
  [
    'a request after close()',
    '',
    ({ query: q }) =>
      after(
        () => q.close(),
        () => q.interrupt(),
      ),
    CLOSED,
  ],
  [
    'a request after return()',
    '',
    ({ query: q }) =>
      after(
        () => q.return(),
        () => q.interrupt(),
      ),
    CLOSED,
  ],
  ['a refused request', 'refuses', ({ query: q }) => q.interrupt(), { isAbort: false, message: 'not now' }],
  ['an exit at start', 'exits at start', ({ query: q }) => readAll(q), exited('exited with code 3')],
  ['an exit', 'exits', ({ query: q }) => readAll(q), exited('exited with code 3')],
  ['SIGKILL', 'is killed', ({ query: q }) => readAll(q), exited('terminated by signal SIGKILL')],
  ['SIGTERM', 'is terminated', ({ query: q }) => readAll(q), exited('terminated by signal SIGTERM')],
  [
    'an exit during a request',
    'exits at a request',
    ({ query: q }) => q.interrupt(),
    exited('exited with code 4'),
  ],
  [
    'SIGKILL during a request',
    'is killed at a request',
    ({ query: q }) => q.interrupt(),
    exited('terminated by signal SIGKILL'),
  ],
  [
    'an exit after an error result',
    'result is an error',
    ({ query: q }) => readAll(q),
    { isAbort: false, message: 'Claude Code returned an error result: broken' },
  ],
  [
    'a failed exit after a result',
    'result is a success',
    ({ query: q }) => readAll(q),
    exited('exited with code 1'),
  ],
];

const CASES = ROWS.flatMap((row) => [['official', ...row] as const, ['toolplane', ...row] as const]);

test.each(CASES)('%s: %s rejects with the same error', async (name, _, fails, use, expected) => {
  const run = start(name, fails);
  if (fails !== 'exits at start') await run.query.next();
  const thrown = await thrownBy(() => use(run));
  expect(thrown).toBeInstanceOf(Error);
  const { message } = thrown as Error;
  expect({ isAbort: thrown instanceof PACKAGES[name].AbortError, message }).toEqual(expected);
});

type Expected = Record<keyof typeof PACKAGES, unknown>;

/** The differences that docs/compatibility.md lists. */
const DIFFERENCES: readonly (readonly [string, (name: keyof typeof PACKAGES) => unknown, Expected])[] = [
  [
    'the name of an abort',
    async (name) => {
      const { query: q, abort } = start(name, '');
      return nameOf(await thrownBy(() => during(readAll(q), abort)));
    },
    { official: 'Error', toolplane: 'AbortError' },
  ],
  [
    'a clean exit before the result',
    async (name) => nameOf(await thrownBy(() => readAll(start(name, 'exits cleanly').query))),
    { official: undefined, toolplane: 'SdkError' },
  ],
  [
    'a prompt stream that throws',
    async (name) => nameOf(await thrownBy(() => readAll(start(name, '', { prompt: broken() }).query))),
    { official: 'Error', toolplane: 'RangeError' },
  ],
  [
    'where a missing executable is reported',
    (name) => stageOf(name, { pathToClaudeCodeExecutable: '/no/such/agent' }),
    { official: 'next', toolplane: 'query' },
  ],
  [
    'where an already aborted signal is reported',
    (name) => {
      const abortController = new AbortController();
      abortController.abort();
      return stageOf(name, { abortController });
    },
    { official: 'next', toolplane: 'query' },
  ],
];

test.each(DIFFERENCES)('%s differs as documented', async (_, observe, expected) => {
  expect({ official: await observe('official'), toolplane: await observe('toolplane') }).toEqual(expected);
});

function start(
  name: keyof typeof PACKAGES,
  fails: string,
  { prompt = endless(), ...options }: Options & { prompt?: AsyncIterable<SDKUserMessage> } = {},
): Run {
  const abortController = new AbortController();
  const q = PACKAGES[name].query({
    prompt,
    options: {
      pathToClaudeCodeExecutable: FAILING_CLI,
      env: { PATH: process.env.PATH, FAILS: fails },
      abortController,
      ...options,
    },
  });
  onTestFinished(() => q.close());
  return { query: q, abort: () => abortController.abort() };
}

async function stageOf(name: keyof typeof PACKAGES, options: Options): Promise<string> {
  let stage = 'query';
  await thrownBy(async () => {
    const { query: q } = start(name, '', options);
    stage = 'next';
    await q.next();
    stage = 'never';
  });
  return stage;
}

async function thrownBy(operation: () => Promise<unknown>): Promise<unknown> {
  try {
    await operation();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

function nameOf(thrown: unknown): string | undefined {
  return thrown === undefined ? undefined : (thrown as Error).name;
}

function broken(): AsyncIterable<SDKUserMessage> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new RangeError('broken')) }) };
}

const FAILING_CLI = fileURLToPath(new URL('failing-cli.mjs', import.meta.url));

async function* endless(): AsyncGenerator<SDKUserMessage> {
  yield { type: 'user', message: { role: 'user', content: 'x' }, parent_tool_use_id: null };
  await new Promise(() => {});
}

/** Acts once the operation has been sent. */
async function during(operation: Promise<unknown>, act: () => void): Promise<unknown> {
  setImmediate(act);
  return operation;
}

async function after(act: () => unknown, operation: () => Promise<unknown>): Promise<unknown> {
  await act();
  return operation();
}

async function readAll(q: Query): Promise<void> {
  for await (const _ of q);
}

/** Sends a request once iterating has thrown. */
async function askAtEnd(q: Query): Promise<unknown> {
  await expect(q.next()).rejects.toThrow();
  return q.interrupt();
}
