import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import * as z from 'zod';
import type { CallToolResult } from '../../src/protocol/mcp.ts';
import { CallContext, type ToolContext } from '../../src/tool-server/context.ts';
import { failedResult } from '../../src/tool-server/result.ts';
import { runTool as settleTool } from '../../src/tool-server/run-tool.ts';
import {
  type AnyTool,
  type CompiledTool,
  compileTool,
  type ToolExtras,
  tool,
} from '../../src/tool-server/tool.ts';
import { gate } from '../support/gate.ts';

describe('tool', () => {
  const list = (definition: AnyTool, alwaysLoad = false) => compileTool(definition, { alwaysLoad }).listed;
  const nothing = () => undefined;
  const EMPTY = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} };

  test('C35 a definition is a plain value, and its handler can be called directly', async () => {
    const handler = async ({ a, b }: { a: number; b: number }) => a + b;
    const schema = { a: z.number(), b: z.number() };
    const add = tool('add', 'Adds', schema, handler, { title: 'Adder' });
    expect(add).toEqual({ name: 'add', description: 'Adds', inputSchema: schema, handler, title: 'Adder' });
    expect(await add.handler({ a: 1, b: 2 }, {} as ToolContext)).toBe(3);
  });

  test('the arguments’ type comes from the schema', () => {
    tool('t', '', { a: z.number(), b: z.string().optional() }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; b?: string | undefined }>();
    });
    tool('t', '', z.object({ a: z.coerce.number() }), (args) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number }>();
    });
    tool('t', '', { type: 'object' }, (args: { a: number }) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number }>();
    });
    tool('t', '', {}, (_args, ctx: ToolContext<{ user: string }>) => {
      expectTypeOf(ctx.assigns).toEqualTypeOf<{ user: string }>();
    });
  });

  test('R73 a minimal tool is listed without absent members, byte for byte', () => {
    const add = tool('add', 'Adds', { a: z.number(), b: z.number().describe('second') }, nothing);
    expect(JSON.stringify(list(add))).toBe(
      '{"name":"add","description":"Adds","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"number"},"b":{"type":"number","description":"second"}},"required":["a","b"]},"execution":{"taskSupport":"forbidden"}}',
    );
  });

  test('all members are listed in the official order', () => {
    const full = tool('t', 'd', {}, nothing, {
      title: 'T',
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://h/i.png' }],
      searchHint: 'words',
      alwaysLoad: true,
      maxResultSizeChars: 5,
      outputSchema: { n: z.number() },
      _meta: { own: 1 },
      timeoutMs: 5,
    });
    const listed = list(full);
    expect(Object.keys(listed)).toEqual([
      'name',
      'title',
      'description',
      'inputSchema',
      'annotations',
      'icons',
      'execution',
      'outputSchema',
      '_meta',
    ]);
    expect(listed).toEqual({
      name: 't',
      title: 'T',
      description: 'd',
      inputSchema: EMPTY,
      annotations: { readOnlyHint: true },
      icons: [{ src: 'https://h/i.png' }],
      execution: { taskSupport: 'forbidden' },
      outputSchema: {
        ...EMPTY,
        properties: { n: { type: 'number' } },
        required: ['n'],
        additionalProperties: false,
      },
      _meta: {
        own: 1,
        'anthropic/searchHint': 'words',
        'anthropic/alwaysLoad': true,
        'anthropic/maxResultSizeChars': 5,
      },
    });
  });

  test.each([
    [{}],
    [{ readOnlyHint: true }],
    [{ title: 'T', destructiveHint: false, idempotentHint: true, openWorldHint: false }],
  ])('annotations are listed with the given hints only: %j', (annotations) => {
    expect(list(tool('t', 'd', {}, nothing, { annotations })).annotations).toEqual(annotations);
  });

  test.each<[string, object, boolean, string | undefined]>([
    ['nothing set', {}, false, undefined],
    ['alwaysLoad false', { alwaysLoad: false }, false, undefined],
    ['a result size', { maxResultSizeChars: 400_000 }, false, '{"anthropic/maxResultSizeChars":400000}'],
    [
      'a server that is always loaded',
      { searchHint: 'w' },
      true,
      '{"anthropic/alwaysLoad":true,"anthropic/searchHint":"w"}',
    ],
    ['a tool cannot undo its server', { alwaysLoad: false }, true, '{"anthropic/alwaysLoad":true}'],
    [
      'nor by its own _meta',
      { _meta: { 'anthropic/alwaysLoad': false, a: 1 } },
      true,
      '{"anthropic/alwaysLoad":true,"a":1}',
    ],
  ])('_meta: %s', (_name, extras, alwaysLoad, expected) => {
    expect(JSON.stringify(list(tool('t', 'd', {}, nothing, extras), alwaysLoad)._meta)).toBe(expected);
  });

  test('an empty description is kept', () => {
    expect(list(tool('t', '', {}, nothing))).toEqual({
      name: 't',
      description: '',
      inputSchema: EMPTY,
      execution: { taskSupport: 'forbidden' },
    });
  });

  test.each<[string, unknown[], string]>([
    ['no name', ['', 'd', {}, nothing], 'tool "": the name must be a non-empty string'],
    ['a name that is no text', [5, 'd', {}, nothing], 'tool 5: the name must be a non-empty string'],
    [
      'a name that is too long',
      ['x'.repeat(129), 'd', {}, nothing],
      'the name has 129 characters; agents accept at most 128',
    ],
    ['a control character', ['a\u0000b', 'd', {}, nothing], 'the name contains a control character'],
    ['no description', ['t', undefined, {}, nothing], 'tool "t": the description must be a string'],
    ['no handler', ['t', 'd', {}, undefined], 'tool "t": the handler must be a function'],
    [
      'no schema',
      ['t', 'd', nothing],
      'tool "t": the schema is missing: call tool(name, description, schema, handler); {} means no arguments',
    ],
    [
      'an extra that is none',
      ['t', 'd', {}, nothing, { timeout: 5 }],
      'tool "t": "timeout" is not a known option of tool(); did you mean "timeoutMs"?',
    ],
    [
      'an extra like no other',
      ['t', 'd', {}, nothing, { readOnlyHint: true }],
      'tool "t": "readOnlyHint" is not a known option of tool(); use one of annotations, title,',
    ],
    [
      'extras that are none',
      ['t', 'd', {}, nothing, 'x'],
      'tool "t": the last argument of tool(), the optional properties, must be an object',
    ],
    ['a limit of 0', ['t', 'd', {}, nothing, { timeoutMs: 0 }], 'tool "t": timeoutMs must be above 0'],
    [
      'a limit that is no number',
      ['t', 'd', {}, nothing, { timeoutMs: Number.NaN }],
      'tool "t": timeoutMs must be above 0',
    ],
    [
      'a negative size',
      ['t', 'd', {}, nothing, { maxResultSizeChars: -1 }],
      'tool "t": maxResultSizeChars must be above 0',
    ],
  ])('%s is rejected as bad-tool by tool()', (_name, args, message) => {
    expect(() => (tool as unknown as (...all: unknown[]) => void)(...args)).toThrow(
      expect.objectContaining({ code: 'bad-tool', message: expect.stringContaining(message) }),
    );
  });

  test.each([[{ name: 't' }], [undefined], [null], [nothing], [[]]])(
    'a hand-written definition is validated too: case %#',
    (definition) => {
      expect(() => compileTool(definition as unknown as AnyTool, { alwaysLoad: false })).toThrow(
        expect.objectContaining({ code: 'bad-tool' }),
      );
    },
  );

  test('a hand-written definition may have additional members', () => {
    const own = { name: 't', description: 'd', inputSchema: {}, handler: nothing, owner: 'me' };
    expect(list(own)).not.toHaveProperty('owner');
  });

  test('an undefined extra counts as not given', () => {
    const extras = { timeout: undefined } as object;
    expect(tool('t', 'd', {}, nothing, extras).name).toBe('t');
  });

  test.each([
    [tool('t', 'd', { type: 'array' }, nothing), 'tool "t": the root type of the schema is "array"'],
    [
      tool('t', 'd', {}, nothing, { outputSchema: { type: 'string' } }),
      'tool "t", output: the root type of the schema is "string"',
    ],
  ])('the error of an invalid schema names tool and schema: case %#', (definition, message) => {
    expect(() => compileTool(definition, { alwaysLoad: false })).toThrow(
      expect.objectContaining({ code: 'bad-schema', message: expect.stringContaining(message) }),
    );
  });

  test.each(['a', 'tool_2', '数据', 'do it!', 'x'.repeat(128)])('the name %s is accepted', (name) => {
    expect(tool(name, '', {}, nothing).name).toBe(name);
  });
});

describe('run', () => {
  const context = () => new CallContext({ server: 'calc', assigns: {} }, {});
  const text = (it: string) => ({ content: [{ type: 'text', text: it }] });

  function runTool(compiled: CompiledTool, args: unknown, ctx: CallContext): Promise<CallToolResult> {
    return new Promise((settle) => void settleTool(compiled, args, ctx, settle));
  }

  function run(handler: (args: never, ctx: never) => unknown, extras: ToolExtras = {}, ctx = context()) {
    const definition = tool('t', '', {}, handler as never, extras);
    return runTool(compileTool(definition, { alwaysLoad: false }), {}, ctx);
  }

  test('C23 R102 a handler gets the validated arguments and the context', async () => {
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

  test('the handler does not run for invalid arguments', async () => {
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
  ])('an exception of a handler is an error result: %s', async (_name, handler, message) => {
    expect(await run(handler)).toEqual(failedResult(message));
  });

  test('an invalid JSON Schema fails the call, not the listing', async () => {
    const definition = tool('t', '', { type: 'object', properties: { n: { type: 'nonsense' } } }, () => 1);
    const result = await runTool(compileTool(definition, { alwaysLoad: false }), {}, context());
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('own schema is invalid') }],
    });
  });

  test('a rejecting validation is an error result', async () => {
    const shape = { n: z.number().refine(() => Promise.reject(new Error('database is down'))) };
    const compiled = compileTool(
      tool('t', '', shape, () => 1),
      { alwaysLoad: false },
    );
    expect(await runTool(compiled, { n: 1 }, context())).toEqual(failedResult('database is down'));
  });

  test('a call cancelled during validation does not start', async () => {
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

    test('a valid object is also structured content', async () => {
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
    ])('%s is an error result', async (_name, value) => {
      expect(await run(() => value, { outputSchema })).toEqual(
        failedResult(
          expect.stringContaining(
            'MCP error -32602: Output validation error: Invalid structured content for tool t: ',
          ) as never,
        ),
      );
    });

    test('an error result needs no structured content', async () => {
      expect(await run(() => new Error('no'), { outputSchema })).toEqual(failedResult('no'));
    });
  });

  describe('a time limit', () => {
    beforeEach(() => vi.useFakeTimers());
    afterEach(() => vi.useRealTimers());

    test('a call that exceeds it is an error result, and its signal aborts', async () => {
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

    test('a handler that ignores the signal is ended too, and its late error is ignored', async () => {
      const late = Promise.withResolvers<never>();
      const running = run(() => late.promise, { timeoutMs: 10 });
      await vi.advanceTimersByTimeAsync(10);
      expect(await running).toEqual(failedResult("Tool 't' did not finish within 10 ms"));
      late.reject(new Error('too late'));
      await vi.advanceTimersByTimeAsync(0);
    });

    test('a call within the limit leaves no timer', async () => {
      expect(await run(async () => 'done', { timeoutMs: 1_000 })).toEqual(text('done'));
      expect(vi.getTimerCount()).toBe(0);
    });

    test.each([Infinity, 2 ** 40])(
      'a limit of %d ms does not end the call immediately',
      async (timeoutMs) => {
        const door = gate<string>();
        const running = run(() => door.pass(), { timeoutMs });
        await vi.advanceTimersByTimeAsync(100_000_000);
        door.open('after 28 hours');
        expect(await running).toEqual(text('after 28 hours'));
      },
    );
  });
});
