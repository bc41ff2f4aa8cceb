import { expect, test, vi } from 'vitest';
import { CallContext, type CallPort } from '../../src/tool-server/context.ts';

const port = (more: Partial<CallPort> = {}): CallPort => ({ server: 'calc', assigns: {}, ...more });

test('R103 a context tells the state, the server, the ids and the request’s own _meta', () => {
  const assigns = { user: 'ada' };
  const meta = { 'claudecode/toolUseId': 'toolu_1', progressToken: 2 };
  const { server, toolUseId, requestId, _meta, ...ctx } = new CallContext(port({ assigns }), meta, 7);
  expect({ ...ctx, server, toolUseId, requestId, _meta }).toEqual({
    assigns,
    server: 'calc',
    toolUseId: 'toolu_1',
    requestId: 7,
    _meta: meta,
  });
});

test.each([[{}], [{ 'claudecode/toolUseId': 5 }]])('no usable id of the call in %j', (meta) => {
  expect(new CallContext(port(), meta).toolUseId).toBeUndefined();
});

test('the signal is made when it is asked for, and is the same each time', () => {
  const made = vi.spyOn(globalThis, 'AbortController');
  const ctx = new CallContext(port(), {});
  ctx.progress(1);
  expect(made).not.toHaveBeenCalled();
  expect(ctx.signal).toBe(ctx.signal);
  expect(made).toHaveBeenCalledOnce();
  made.mockRestore();
});

test.each(['before', 'after'])('a signal asked for %s the abort has the first reason', (when) => {
  const ctx = new CallContext(port(), {});
  if (when === 'before') expect(ctx.signal.aborted).toBe(false);
  ctx.abort('first');
  ctx.abort('second');
  expect([ctx.isAborted, ctx.signal.aborted, ctx.signal.reason]).toEqual([true, true, 'first']);
});

test('progress and log work when taken out of the context', () => {
  const told: unknown[] = [];
  const { progress, log } = new CallContext(
    port({ onProgress: (it) => told.push(it), onLog: (...it) => told.push(it) }),
    {},
  );
  progress(1, { total: 2, message: 'half' });
  log('info', { a: 1 });
  expect(told).toEqual([{ progress: 1, total: 2, message: 'half' }, ['info', { a: 1 }]]);
});

test('a notification of one’s own goes out as it is', async () => {
  const sent: unknown[] = [];
  const { sendNotification } = new CallContext(port({ onNotification: (...it) => void sent.push(it) }), {});
  await sendNotification({ method: 'notifications/x', params: { a: 1 } });
  await sendNotification({ method: 'notifications/y' });
  expect(sent).toEqual([
    ['notifications/x', { a: 1 }],
    ['notifications/y', undefined],
  ]);
});

test('without listeners both do nothing', () => {
  const { progress, log } = new CallContext(port(), {});
  progress(1);
  log('info', 'x');
});

test.each(['abort', 'finish'] as const)('progress after %s is dropped', (end) => {
  const onProgress = vi.fn();
  const ctx = new CallContext(port({ onProgress }), {});
  const { progress } = ctx;
  ctx[end]('reason');
  progress(1);
  expect(onProgress).not.toHaveBeenCalled();
});
