import { expect, test, vi } from 'vitest';
import { CallContext, type CallPort } from '../../src/tool-server/context.ts';

const port = (more: Partial<CallPort> = {}): CallPort => ({ server: 'calc', assigns: {}, ...more });

test('R103 a context has the state, the server, the ids and the _meta of the request', () => {
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

test.each([[{}], [{ 'claudecode/toolUseId': 5 }]])('%j contains no usable tool use id', (meta) => {
  expect(new CallContext(port(), meta).toolUseId).toBeUndefined();
});

test('the signal is created on first access and stays the same', () => {
  const made = vi.spyOn(globalThis, 'AbortController');
  const ctx = new CallContext(port(), {});
  ctx.progress(1);
  expect(made).not.toHaveBeenCalled();
  expect(ctx.signal).toBe(ctx.signal);
  expect(made).toHaveBeenCalledOnce();
  made.mockRestore();
});

test.each(['before', 'after'])('a signal accessed %s the abort has the first reason', (when) => {
  const ctx = new CallContext(port(), {});
  if (when === 'before') expect(ctx.signal.aborted).toBe(false);
  ctx.abort('first');
  ctx.abort('second');
  expect([ctx.isAborted, ctx.signal.aborted, ctx.signal.reason]).toEqual([true, true, 'first']);
});

test('progress and log can be destructured from the context', () => {
  const told: unknown[] = [];
  const { progress, log } = new CallContext(
    port({ onProgress: (it) => told.push(it), onLog: (...it) => told.push(it) }),
    {},
  );
  progress(1, { total: 2, message: 'half' });
  log('info', { a: 1 });
  expect(told).toEqual([{ progress: 1, total: 2, message: 'half' }, ['info', { a: 1 }]]);
});

test('a custom notification is sent unchanged', async () => {
  const sent: unknown[] = [];
  const { sendNotification } = new CallContext(port({ onNotification: (...it) => void sent.push(it) }), {});
  await sendNotification({ method: 'notifications/x', params: { a: 1 } });
  await sendNotification({ method: 'notifications/y' });
  expect(sent).toEqual([
    ['notifications/x', { a: 1 }],
    ['notifications/y', undefined],
  ]);
});

test('without listeners both have no effect', () => {
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
