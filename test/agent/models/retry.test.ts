import { expect, test } from 'vitest';
import { collectMessage, MessageCollector } from '../../../src/agent/models/message-collector.ts';
import { ModelError, type ModelErrorCode } from '../../../src/agent/models/model.ts';
import { type RetryEvent, retryStep, withRetry } from '../../../src/agent/models/retry.ts';
import {
  fails,
  type MessageReply,
  type ScriptedModel,
  scriptedModel,
  text,
  thinking,
  together,
} from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { gate } from '../../support/gate.ts';
import { modelRequest } from './requests.ts';

const POLICY = { maxRetries: 4, maxUnreachableRetries: 4, firstDelayMs: 100, maxDelayMs: 1000 };
const BUSY = fails(new ModelError('overloaded', 'busy', { status: 529 }));
const instantly = async () => {};

test.each<[ModelErrorCode, number | undefined, boolean]>([
  ['overloaded', 529, true],
  ['rate-limited', 429, true],
  ['unreachable', undefined, true],
  ['broken-reply', undefined, true],
  ['failed', 500, true],
  ['failed', undefined, false],
  ['unauthorized', 401, false],
  ['bad-request', 400, false],
  ['too-long', 413, false],
])('%s (%s) is retried: %s', (code, status, isRetried) => {
  const step = retryStep(new ModelError(code, 'x', { status }), 1, POLICY, 0);
  expect(step.kind).toBe(isRetried ? 'retry' : 'give-up');
});

test.each([
  { failures: 1, random: 1, retryAfterMs: undefined, step: { kind: 'retry', delayMs: 100, maxRetries: 4 } },
  { failures: 3, random: 1, retryAfterMs: undefined, step: { kind: 'retry', delayMs: 400, maxRetries: 4 } },
  { failures: 3, random: 0.5, retryAfterMs: undefined, step: { kind: 'retry', delayMs: 300, maxRetries: 4 } },
  { failures: 1, random: 1, retryAfterMs: 900, step: { kind: 'retry', delayMs: 900, maxRetries: 4 } },
  { failures: 1, random: 1, retryAfterMs: 5000, step: { kind: 'give-up' } },
  { failures: 5, random: 1, retryAfterMs: undefined, step: { kind: 'give-up' } },
])(
  'failure $failures with random $random and retry-after $retryAfterMs: $step',
  ({ failures, random, retryAfterMs, step }) => {
    expect(retryStep(new ModelError('overloaded', 'x', { retryAfterMs }), failures, POLICY, random)).toEqual(
      step,
    );
  },
);

test('delays double up to the maximum, and each is reported before it starts', async () => {
  const waits: number[] = [];
  const told: RetryEvent[] = [];
  const model = withRetry(scriptedModel([BUSY, BUSY, BUSY, BUSY, text('ok')]), {
    ...POLICY,
    maxDelayMs: 300,
    random: () => 1,
    sleep: async (ms) => waits.push(ms),
    onRetry: (event) => told.push(event),
  });
  await collect(model.stream(modelRequest()));
  expect(waits).toEqual([100, 200, 300, 300]);
  expect(told.map(({ failures, delayMs }) => [failures, delayMs])).toEqual([
    [1, 100],
    [2, 200],
    [3, 300],
    [4, 300],
  ]);
});

test('throws the last error after the last attempt', async () => {
  const inner = scriptedModel(() => BUSY);
  const model = withRetry(inner, { ...POLICY, sleep: instantly });
  await expect(collect(model.stream(modelRequest()))).rejects.toMatchObject({ code: 'overloaded' });
  expect(inner.requests).toHaveLength(5);
});

test('uses the fallback under its own name after the given failures, and retries it too', async () => {
  const first = scriptedModel(() => BUSY);
  const second = scriptedModel([BUSY, text('from the second')]);
  const told: RetryEvent[] = [];
  const model = withRetry(first, {
    ...POLICY,
    random: () => 1,
    fallback: { model: second, names: ['m-2'], after: 2 },
    sleep: instantly,
    onRetry: (event) => told.push(event),
  });
  await collect(model.stream(modelRequest()));
  expect(first.requests).toHaveLength(2);
  expect(second.requests.map((request) => request.model)).toEqual(['m-2', 'm-2']);
  expect(told.map(({ model, kind, delayMs }) => [model, kind, delayMs])).toEqual([
    ['m-1', 'retry', 100],
    ['m-2', 'fallback', 0],
    ['m-2', 'retry', 400],
  ]);
});

test.each<[ModelErrorCode, number | undefined, string]>([
  ['overloaded', 529, 'retry'],
  ['rate-limited', 429, 'retry'],
  ['failed', 500, 'fallback'],
  ['bad-request', 404, 'fallback'],
  ['bad-request', 400, 'give-up'],
  ['unauthorized', 401, 'give-up'],
  ['failed', undefined, 'give-up'],
])('with a fallback, the first failure %s (%s) leads to: %s', (code, status, kind) => {
  const step = retryStep(new ModelError(code, 'x', { status }), 1, { ...POLICY, fallbackAfter: 3 }, 0);
  expect(step.kind).toBe(kind);
});

test('several fallbacks are used one after the other', async () => {
  const inner = scriptedModel(({ model }) => (model === 'm-3' ? text('ok') : BUSY));
  const model = withRetry(inner, {
    fallback: { model: inner, names: ['m-2', 'm-3'], after: 2 },
    sleep: instantly,
  });
  await collect(model.stream(modelRequest()));
  expect(inner.requests.map((request) => request.model)).toEqual(['m-1', 'm-1', 'm-2', 'm-2', 'm-3']);
});

test('a request that already names the fallback is only retried', async () => {
  const inner = scriptedModel([BUSY, BUSY, text('ok')]);
  const told: RetryEvent[] = [];
  const fallback = { model: inner, names: ['m-2'], after: 1 };
  const model = withRetry(inner, { fallback, sleep: instantly, onRetry: (event) => told.push(event) });
  await collect(model.stream({ ...modelRequest(), model: 'm-2' }));
  expect(told.map(({ kind }) => kind)).toEqual(['retry', 'retry']);
});

/** The first reply breaks off after so many of its events, the second one is complete. */
function breaksOnce(reply: MessageReply, after: number): ScriptedModel {
  const inner = scriptedModel([reply, text('whole')]);
  return {
    ...inner,
    async *stream(request) {
      let count = 0;
      for await (const event of inner.stream(request)) {
        yield event;
        if (inner.requests.length === 1 && ++count === after) throw new ModelError('broken-reply', 'cut');
      }
    },
  };
}

test.each([
  ['has only begun', text('half'), 1],
  ['is in its first block', text('half'), 3],
  ['is only thoughts so far', together(thinking('hm'), text('half')), 6],
])('a reply that breaks off while it %s is repeated from its start', async (_, reply, after) => {
  const model = breaksOnce(reply, after);
  const events = await collect(withRetry(model, { sleep: instantly }).stream(modelRequest()));
  expect(events.slice(0, after + 2).map(({ type }) => type)).toEqual([
    ...events.slice(0, after).map(({ type }) => type),
    'reply_broken',
    'message_start',
  ]);
  expect(collectMessage(events).content).toEqual([{ type: 'text', text: 'whole' }]);
});

test('a reply that breaks off after a complete block is not repeated, and its open block is discarded', async () => {
  const model = breaksOnce(together(text('one'), text('two')), 6);
  const collector = new MessageCollector();
  const reading = async () => {
    for await (const event of withRetry(model, { sleep: instantly }).stream(modelRequest()))
      collector.add(event);
  };
  await expect(reading()).rejects.toThrow('cut');
  expect(model.requests).toHaveLength(1);
  expect(collector.message.content).toEqual([{ type: 'text', text: 'one' }]);
});

test("an abort ends a delay immediately with the signal's reason, also with the real clock", async () => {
  const abort = new AbortController();
  const waiting = gate();
  const inner = scriptedModel(() => BUSY);
  const model = withRetry(inner, { firstDelayMs: 50_000, onRetry: () => void waiting.pass() });
  const replying = collect(model.stream(modelRequest({ signal: abort.signal })));
  await waiting.reached;
  abort.abort(new Error('interrupted'));
  await expect(replying).rejects.toThrow('interrupted');
  expect(inner.requests).toHaveLength(1);
});
