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

/** `name` is `Error` if not given. */
type Failure = { isAbort: boolean; message: string; name?: string };
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
  ['a request after the process ended', 'exits', ({ query: q }) => askAtEnd(q), CLOSED],
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
  const { message, name: ownName } = thrown as Error;
  const isAbort = thrown instanceof PACKAGES[name].AbortError;
  expect({ isAbort, message, name: ownName }).toEqual({ name: 'Error', ...expected });
});

/** How a query fails that cannot begin: where, and with which error. */
type Start = { stage: 'query' | 'next' | 'never'; name?: string; isAbort?: boolean };

const aborted = new AbortController();
aborted.abort();

const STARTS: readonly (readonly [string, string, Parameters<typeof start>[2], Start])[] = [
  [
    'a missing executable',
    '',
    { pathToClaudeCodeExecutable: '/no/such/agent' },
    { stage: 'next', name: 'ReferenceError', isAbort: false },
  ],
  [
    'a missing cwd',
    '',
    { cwd: '/no/such/folder' },
    { stage: 'next', name: 'ReferenceError', isAbort: false },
  ],
  [
    'a signal that is already aborted',
    '',
    { abortController: aborted },
    { stage: 'next', name: 'Error', isAbort: true },
  ],
  [
    'a signal that is already aborted, with a text as prompt',
    '',
    { prompt: 'x', abortController: aborted },
    { stage: 'query', name: 'Error', isAbort: true },
  ],
  ['a prompt stream that throws', '', { prompt: broken() }, { stage: 'next', name: 'Error', isAbort: true }],
  ['a clean exit before the result', 'exits cleanly', {}, { stage: 'never' }],
  ['a clean exit at start', 'exits cleanly at start', {}, { stage: 'never' }],
];

const START_CASES = STARTS.flatMap((row) => [['official', ...row] as const, ['toolplane', ...row] as const]);

test.each(START_CASES)('%s: %s fails at the same place', async (name, _, fails, options, expected) => {
  let stage: Start['stage'] = 'query';
  const thrown = await thrownBy(async () => {
    const { query: q } = start(name, fails, options);
    stage = 'next';
    await readAll(q);
    stage = 'never';
  });
  const failure = thrown instanceof Error && {
    name: thrown.name,
    isAbort: thrown instanceof PACKAGES[name].AbortError,
  };
  expect({ stage, ...failure }).toEqual(expected);
});

function start(
  name: keyof typeof PACKAGES,
  fails: string,
  { prompt = endless(), ...options }: Options & { prompt?: string | AsyncIterable<SDKUserMessage> } = {},
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

async function thrownBy(operation: () => Promise<unknown>): Promise<unknown> {
  try {
    await operation();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
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
