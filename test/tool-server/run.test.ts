import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import type { CallToolResult } from '../../src/protocol/mcp.ts';
import { CallContext } from '../../src/tool-server/context.ts';
import { failedResult } from '../../src/tool-server/result.ts';
import { runTool as settleTool } from '../../src/tool-server/run.ts';
import { type CompiledTool, compileTool, type ToolExtras, tool } from '../../src/tool-server/tool.ts';
import { gate } from '../support/gate.ts';

const context = () => new CallContext({ server: 'calc', assigns: {} }, {});
const text = (it: string) => ({ content: [{ type: 'text', text: it }] });

function runTool(compiled: CompiledTool, args: unknown, ctx: CallContext): Promise<CallToolResult> {
  return new Promise((settle) => void settleTool(compiled, args, ctx, settle));
}

function run(handler: (args: never, ctx: never) => unknown, extras: ToolExtras = {}, ctx = context()) {
  const definition = tool('t', '', {}, handler as never, extras);
  return runTool(compileTool(definition, { alwaysLoad: false }), {}, ctx);
}

test('C23 R102 a handler gets the checked arguments and the context, whatever its arity', async () => {
  const ctx = context();
  const seen: unknown[][] = [];
  const schema = { a: z.number().default(5) };
  for (const handler of [
    (...all: unknown[]) => void seen.push(all),
    function (this: void, args: unknown, given: unknown = 'default') {
      seen.push([args, given]);
    },
  ]) {
    const compiled = compileTool(tool('t', '', schema, handler), { alwaysLoad: false });
    await runTool(compiled, {}, ctx);
  }
  expect(seen).toEqual([
    [{ a: 5 }, ctx],
    [{ a: 5 }, ctx],
  ]);
});

test('the handler does not run for arguments that do not fit', async () => {
  const handler = vi.fn();
  const compiled = compileTool(tool('add', '', { a: z.number() }, handler), { alwaysLoad: false });
  const result = await runTool(compiled, { a: 'x' }, context());
  expect(handler).not.toHaveBeenCalled();
  expect(result).toEqual(
    failedResult(
      `MCP error -32602: Input validation error: Invalid arguments for tool add: ${JSON.stringify(
        [
          {
            expected: 'number',
            code: 'invalid_type',
            path: ['a'],
            message: 'Invalid input: expected number, received string',
          },
        ],
        null,
        2,
      )}`,
    ),
  );
});

test.each<[string, () => unknown, string]>([
  [
    'R87 C34 an error',
    () => {
      throw new Error('kaboom');
    },
    'kaboom',
  ],
  ['a rejection', () => Promise.reject(new TypeError('no')), 'no'],
  [
    'a text',
    () => {
      throw 'plain';
    },
    'plain',
  ],
  [
    'undefined',
    () => {
      throw undefined;
    },
    "Tool 't' threw undefined",
  ],
  [
    'null',
    () => {
      throw null;
    },
    'null',
  ],
  [
    'something unprintable',
    () => {
      throw Object.create(null, { toJSON: { value: () => undefined } });
    },
    'an unprintable object',
  ],
  [
    'a getter that throws',
    () => ({
      get content() {
        throw new Error('trap');
      },
    }),
    'trap',
  ],
])('what a handler throws is a failed result: %s', async (_name, handler, message) => {
  expect(await run(handler)).toEqual(failedResult(message));
});

test('a faulty JSON Schema fails the call, not the listing', async () => {
  const definition = tool('t', '', { type: 'object', properties: { n: { type: 'nonsense' } } }, () => 1);
  const result = await runTool(compileTool(definition, { alwaysLoad: false }), {}, context());
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('own schema is faulty') }],
  });
});

test('a check that rejects is a failed result', async () => {
  const shape = { n: z.number().refine(() => Promise.reject(new Error('database is down'))) };
  const compiled = compileTool(
    tool('t', '', shape, () => 1),
    { alwaysLoad: false },
  );
  expect(await runTool(compiled, { n: 1 }, context())).toEqual(failedResult('database is down'));
});

test('a call taken back while its arguments are checked never begins', async () => {
  const handler = vi.fn();
  const door = gate<boolean>();
  const shape = { n: z.number().refine(() => door.pass()) };
  const compiled = compileTool(tool('t', '', shape, handler), { alwaysLoad: false });
  const ctx = context();
  const running = runTool(compiled, { n: 1 }, ctx);
  await door.reached;
  ctx.abort(new Error('taken back'));
  door.open(true);
  expect(await running).toEqual(failedResult('taken back'));
  expect(handler).not.toHaveBeenCalled();
});

describe('an output schema', () => {
  const outputSchema = { n: z.number() };

  test('an object that fits is also structured content', async () => {
    expect(await run(() => ({ n: 1 }), { outputSchema })).toEqual({
      ...text('{"n":1}'),
      structuredContent: { n: 1 },
    });
  });

  test.each<[string, unknown]>([
    ['an object that does not fit', { n: 'x' }],
    ['text', 'x'],
    ['a list', [1]],
    ['nothing', undefined],
    ['a result without structured content', text('x')],
  ])('%s is a failed result', async (_name, value) => {
    expect(await run(() => value, { outputSchema })).toEqual(
      failedResult(
        expect.stringContaining(
          'MCP error -32602: Output validation error: Invalid structured content for tool t: ',
        ) as never,
      ),
    );
  });

  test('a failure needs no structured content', async () => {
    expect(await run(() => new Error('no'), { outputSchema })).toEqual(failedResult('no'));
  });
});

describe('a time limit', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test('a call that takes longer is a failed result, and its signal aborts', async () => {
    const ctx = context();
    const running = run(
      (_args: never, { signal }: { signal: AbortSignal }) => {
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
      { timeoutMs: 1_000 },
      ctx,
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(ctx.isAborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await running).toEqual(failedResult("Tool 't' did not finish within 1000 ms"));
    expect(ctx.signal.reason).toEqual(new Error("Tool 't' did not finish within 1000 ms"));
  });

  test('a handler that does not listen is ended all the same, and its late failure is nobody’s', async () => {
    const late = Promise.withResolvers<never>();
    const running = run(() => late.promise, { timeoutMs: 10 });
    await vi.advanceTimersByTimeAsync(10);
    expect(await running).toEqual(failedResult("Tool 't' did not finish within 10 ms"));
    late.reject(new Error('too late'));
    await vi.advanceTimersByTimeAsync(0);
  });

  test('a call that is in time leaves no timer behind', async () => {
    expect(await run(async () => 'done', { timeoutMs: 1_000 })).toEqual(text('done'));
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([Infinity, 2 ** 40])('a limit of %d ms does not end the call at once', async (timeoutMs) => {
    const door = gate<string>();
    const running = run(() => door.pass(), { timeoutMs });
    await vi.advanceTimersByTimeAsync(100_000_000);
    door.open('after 28 hours');
    expect(await running).toEqual(text('after 28 hours'));
  });
});
