import { expect, test } from 'vitest';
import { callTool, type ServerCall } from '../../../src/mcp/calls/call-tool.ts';
import { memoryJournal } from '../../../src/mcp/calls/journal.ts';
import type { Connection, RequestOptions } from '../../../src/mcp/connection/connection.ts';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import type { CallTarget } from '../../../src/mcp/servers/call-target.ts';
import { AbortError } from '../../../src/protocol/sdk-error.ts';

const refused = () =>
  new HostError('unreachable', 'srv', 'connection refused', { isTerminal: true, hasRun: 'no' });
const lost = () => new HostError('closed', 'srv', 'the connection is closed', { isTerminal: true });
const ok = { content: [{ type: 'text' as const, text: 'ok' }] };

/** A server whose calls have the outcomes of the script. */
function scripted(script: (unknown | typeof ok)[], more: Partial<CallTarget> = {}) {
  const seen: RequestOptions[] = [];
  const reports: unknown[] = [];
  const connection = {
    async callTool(_tool: string, _args: object, options: RequestOptions) {
      seen.push(options);
      const next = script.shift();
      if (next === ok) return ok;
      throw next;
    },
  } as unknown as Connection;
  const target: CallTarget = {
    entry: { command: 'x' },
    tool: () => undefined,
    isIncluded: () => true,
    connect: async () => connection,
    isCurrent: () => true,
    live: () => undefined,
    report: (_, failure) => void reports.push(failure),
    ...more,
  };
  return { target, seen, reports, journal: memoryJournal() };
}

const call: ServerCall = {
  server: 'srv',
  tool: 'act',
  args: {},
  timeoutMs: 10_000,
};

test('a result is returned unchanged, journaled and reported', async () => {
  const { target, reports, journal } = scripted([ok]);
  expect(await callTool(target, call, journal)).toBe(ok);
  expect(reports).toEqual([undefined]);
  expect(journal.records).toMatchObject([{ server: 'srv', tool: 'act', attempts: 1, outcome: 'answered' }]);
});

test('a call that was not sent is repeated within the remaining time', async () => {
  const { target, seen, journal } = scripted([refused(), ok]);
  expect(await callTool(target, call, journal)).toBe(ok);
  expect(seen).toHaveLength(2);
  const [first = 0, second = 0] = seen.map((it) => it.timeoutMs);
  expect(first).toBeGreaterThan(9_000);
  // The pause between the attempts is 100 ms; timers and clocks differ slightly.
  expect(second).toBeLessThanOrEqual(first - 90);
  expect(journal.records).toMatchObject([{ attempts: 2, outcome: 'answered' }]);
});

test('a call that may have run is not repeated, and the error says so', async () => {
  const { target, seen, journal } = scripted([lost(), ok]);
  await expect(callTool(target, call, journal)).rejects.toMatchObject({
    code: 'closed',
    message:
      'MCP server "srv": the connection was lost during "act" (the connection is closed); the call may have run, so it was not repeated: check its effect before you repeat it',
  });
  expect(seen).toHaveLength(1);
  expect(journal.records).toMatchObject([{ attempts: 1, outcome: 'lost' }]);
});

test.each([
  ['a trusted server calls it read-only', { trust: true }, { readOnlyHint: true }, 2],
  ['a trusted server calls it idempotent', { trust: true }, { idempotentHint: true }, 2],
  ['any other server says so', {}, { readOnlyHint: true, idempotentHint: true }, 1],
  ['a trusted server says nothing', { trust: true }, {}, 1],
])('a lost call is repeated where that does no harm: %s', async (_, entry, annotations, attempts) => {
  const { target, seen, journal } = scripted([lost(), ok], {
    entry: { command: 'x', ...entry },
    tool: (name) => ({ name, inputSchema: { type: 'object' }, annotations }),
  });
  await callTool(target, call, journal).catch(() => {});
  expect(seen).toHaveLength(attempts);
});

test("the server's own refusal is no lost connection", async () => {
  const refusal = Object.assign(new Error('no such tool'), { code: -32602 });
  const { target, seen, reports, journal } = scripted([refusal, ok]);
  await expect(callTool(target, call, journal)).rejects.toBe(refusal);
  expect(seen).toHaveLength(1);
  expect(reports).toEqual([refusal]);
  expect(journal.records).toMatchObject([{ outcome: 'failed' }]);
});

test('a server that cannot be connected rejects with its reason, and the call was not sent', async () => {
  const why = new HostError('disabled', 'srv', 'it is turned off');
  const { target, journal } = scripted([], { connect: () => Promise.reject(why) });
  await expect(callTool(target, call, journal)).rejects.toBe(why);
  expect(journal.records).toMatchObject([{ attempts: 0, outcome: 'failed' }]);
});

test('an abort ends the pause before the next attempt at once', async () => {
  const stop = new AbortController();
  const failure = new HostError('unreachable', 'srv', 'busy', {
    isTerminal: true,
    hasRun: 'no',
    retryAfterMs: 5_000,
  });
  const { target, seen, journal } = scripted([failure, ok], { report: () => stop.abort() });
  const since = performance.now();
  await expect(callTool(target, { ...call, signal: stop.signal }, journal)).rejects.toBeInstanceOf(
    AbortError,
  );
  expect(performance.now() - since).toBeLessThan(1_000);
  expect(seen).toHaveLength(1);
  expect(journal.records).toMatchObject([{ outcome: 'aborted' }]);
});

test.each([
  ['a short pause that the server asked for is kept to', 50, 'answered'],
  ['a long one is told', 60_000, 'rejected'],
])('%s', async (_, retryAfterMs, outcome) => {
  let asked = 0;
  const { target, journal } = scripted([ok]);
  const busy = new HostError('unreachable', 'srv', 'it is busy', { hasRun: 'no', retryAfterMs });
  const { connect: connected } = target;
  const patient: CallTarget = {
    ...target,
    connect: (signal) => (++asked === 1 ? Promise.reject(busy) : connected(signal)),
  };
  const result = callTool(patient, call, journal);
  if (outcome === 'answered') expect(await result).toBe(ok);
  else await expect(result).rejects.toBe(busy);
  expect(asked).toBe(outcome === 'answered' ? 2 : 1);
});

test('the limit in all covers the time until there is a connection, and nothing is sent after it', async () => {
  const { target, seen, journal } = scripted([ok]);
  const slow: CallTarget = {
    ...target,
    connect: (signal) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new AbortError('stop')))),
  };
  await expect(callTool(slow, { ...call, timeoutMs: 50 }, journal)).rejects.toMatchObject({
    code: 'timeout',
    hasRun: 'no',
    message:
      'MCP server "srv": tool "act" timed out after 50 ms while its server was connecting; raise timeoutMs of the call if it may take longer',
  });
  expect(seen).toEqual([]);
});

test.each([
  ['the limit in all', {}, { timeout: 20 }, 'timed out after 20 ms; raise "timeout" of the server entry'],
  [
    'silence',
    { timeoutMs: 20, onProgress() {} },
    {},
    'sent no progress for 20 ms; raise timeoutMs of the call',
  ],
])('a time-out names the setting that was met: %s', async (_, options, entry, words) => {
  const { target, journal } = scripted([]);
  const connection = {
    callTool: async () => {
      await new Promise((resolve) => setTimeout(resolve, 25));
      throw new HostError('timeout', 'srv', 'late');
    },
  } as unknown as Connection;
  const late = { ...target, entry: { command: 'x', ...entry }, live: () => connection };
  const { timeoutMs: _limit, ...untimed } = call;
  await expect(callTool(late, { ...untimed, ...options }, journal)).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining(words),
  });
  expect(journal.records).toMatchObject([{ outcome: 'timed-out' }]);
});

test('a lost session is replaced once, not repeatedly', async () => {
  const forgotten = () => new HostError('session-lost', 'srv', 'who?', { isTerminal: true, hasRun: 'no' });
  const { target, seen, journal } = scripted([forgotten(), forgotten(), ok]);
  await expect(callTool(target, call, journal)).rejects.toMatchObject({ code: 'session-lost' });
  expect(seen).toHaveLength(2);
});

test('a call whose tool changed since the decision is not sent', async () => {
  const { target, seen, journal } = scripted([ok]);
  const whyNot = () => 'its tool "act" is another one';
  await expect(callTool(target, { ...call, refusal: whyNot }, journal)).rejects.toMatchObject({
    code: 'unknown-tool',
    hasRun: 'no',
    message: 'MCP server "srv": its tool "act" is another one; the call was not sent, so call the tool again',
  });
  expect(seen).toEqual([]);
  expect(journal.records).toMatchObject([{ attempts: 0, outcome: 'failed' }]);
});

test.each([
  ['never got there', refused, 'no', 'failed', 'the call was not sent'],
  ['may have run', lost, 'maybe', 'lost', 'so the call may have run and was not sent again'],
] as const)(
  'it is looked at before each attempt: the first %s',
  async (_, failure, hasRun, outcome, words) => {
    const { target, seen, journal } = scripted([failure(), ok], {
      entry: { command: 'x', trust: true },
      tool: (name) => ({ name, inputSchema: { type: 'object' }, annotations: { idempotentHint: true } }),
    });
    const whyNot = () => (seen.length === 0 ? undefined : 'it changed');
    await expect(callTool(target, { ...call, refusal: whyNot }, journal)).rejects.toMatchObject({
      hasRun,
      message: expect.stringContaining(words),
    });
    expect(seen).toHaveLength(1);
    expect(journal.records).toMatchObject([{ attempts: 1, outcome }]);
  },
);
