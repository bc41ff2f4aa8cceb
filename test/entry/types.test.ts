import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  attach,
  createSdkMcpServer,
  type Options,
  type SDKMessage,
  type ToolContext,
  tool,
  toolServer,
} from '../../src/entry/index.ts';

// The compiler checks the types of these calls; running them checks their values.

const call = (server: ReturnType<typeof createSdkMcpServer>, args: object) => server.call('t', args);

test('a zod shape: optional fields, defaults and transforms are inferred', async () => {
  const definition = tool(
    't',
    'T',
    { a: z.number(), b: z.string().optional(), c: z.number().default(3), d: z.string().transform(Number) },
    (args) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; b?: string | undefined; c: number; d: number }>();
      return args;
    },
  );
  const server = createSdkMcpServer({ name: 's', tools: [definition] });
  expect(await call(server, { a: 1, d: '4' })).toEqual({
    content: [{ type: 'text', text: '{"a":1,"c":3,"d":4}' }],
  });
});

test('an empty shape has no arguments', () => {
  tool('t', 'T', {}, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<never, never>>();
  });
});

test('a zod object, a valibot wrapper, an arktype', () => {
  tool('t', 'T', z.object({ a: z.enum(['x', 'y']) }), ({ a }) => {
    expectTypeOf(a).toEqualTypeOf<'x' | 'y'>();
  });
  tool('t', 'T', toStandardJsonSchema(v.object({ a: v.optional(v.number(), 1) })), ({ a }) => {
    expectTypeOf(a).toEqualTypeOf<number>();
  });
  tool('t', 'T', type({ a: 'string', 'b?': 'number' }), ({ a, b }) => {
    expectTypeOf(a).toEqualTypeOf<string>();
    expectTypeOf(b).toEqualTypeOf<number | undefined>();
  });
});

test('a JSON Schema takes the arguments’ type from the handler', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  tool('t', 'T', schema, (args: { a: number }) => {
    expectTypeOf(args.a).toEqualTypeOf<number>();
  });
  tool('t', 'T', schema, (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
  });
});

test('application state has the type that the handler declares', async () => {
  type State = { user: string };
  const who = tool<{ a: typeof z.number extends () => infer N ? N : never }, State>(
    't',
    'T',
    { a: z.number() },
    (_, ctx) => {
      expectTypeOf(ctx.assigns).toEqualTypeOf<State>();
      expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(ctx.toolUseId).toEqualTypeOf<string | undefined>();
      return ctx.assigns.user;
    },
  );
  const server = createSdkMcpServer({ name: 's', tools: [who] });
  expect(await server.call('t', { a: 1 }, { assigns: { user: 'Ada' } })).toEqual({
    content: [{ type: 'text', text: 'Ada' }],
  });
  const entry = attach(server, { assigns: { user: 'Bob' } });
  expectTypeOf({ s: entry }).toExtend<NonNullable<Options['mcpServers']>>();
});

test('the builder infers as tool() does, and a server is an entry as it is', () => {
  const server = toolServer('s')
    .tool('a', 'A', { n: z.number() }, ({ n }) => {
      expectTypeOf(n).toEqualTypeOf<number>();
      return n;
    })
    .tool('b', 'B', { type: 'object' }, ({ x }: { x: string }) => x);
  expectTypeOf({ s: server }).toExtend<NonNullable<Options['mcpServers']>>();
  expect(server.tools.map((it) => it.name)).toEqual(['a', 'b']);
});

test('a field that is not in the schema is a type error', () => {
  // @ts-expect-error there is no such field
  tool('t', 'T', { a: z.number() }, ({ missing }) => missing);
  // @ts-expect-error the shape says number
  tool('t', 'T', { a: z.number() }, ({ a }: { a: string }) => a);
});

test('messages are discriminated by their type', () => {
  const read = (message: SDKMessage) => {
    if (message.type === 'assistant') expectTypeOf(message.message.content).toBeArray();
    if (message.type === 'result' && message.subtype === 'success')
      expectTypeOf(message.result).toEqualTypeOf<string>();
    return message.type;
  };
  expectTypeOf(read).returns.toExtend<string>();
});

interface Session {
  readonly user: string;
}

class Archive {
  readonly pages = 3;
}

test('application state may be an interface or an instance, and the handler has its type', async () => {
  const server = toolServer('s')
    .tool('who', '', {}, (_, { assigns }: ToolContext<Session>) => assigns.user)
    .tool('pages', '', {}, (_, { assigns }: ToolContext<Archive>) => assigns.pages)
    .tool('any', '', {}, (_, { assigns }) => {
      expectTypeOf(assigns.user).toEqualTypeOf<unknown>();
    });
  const session: Session = { user: 'Ada' };
  expect(await server.call('who', {}, { assigns: session })).toMatchObject({ content: [{ text: 'Ada' }] });
  expect(await server.call('pages', {}, { assigns: new Archive() })).toMatchObject({
    content: [{ text: '3' }],
  });
  expect(attach(server, { assigns: session }).assigns).toBe(session);
  // @ts-expect-error state is an object
  expect(() => attach(server, { assigns: 'Ada' })).toThrow('attach()');
});
