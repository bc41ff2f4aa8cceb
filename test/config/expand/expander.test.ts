import { expect, test } from 'vitest';
import { makeExpander } from '../../../src/config/expand/expander.ts';
import type { SecretStore } from '../../../src/config/secrets/secret-store.ts';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';

function storeOf(values: Record<string, string>): SecretStore {
  const kept = new Map(Object.entries(values));
  return {
    get: (name) => kept.get(name),
    set: (name, value) => void kept.set(name, value),
    remove: (name) => kept.delete(name),
    names: () => [...kept.keys()],
  };
}

const UNUSED = () => {
  throw new Error('the store was asked');
};

test('an entry and the values to hide are given, each time anew', () => {
  const env: Record<string, string | undefined> = { A: 'one', GONE: undefined };
  const store = storeOf({ s: 'first-secret' });
  const expand = makeExpander({ env, secrets: store });
  const entry: ServerEntry = { command: 'x', args: ['${A}', '${secret:s}', '${GONE:-default}'] };
  expect(expand('srv', entry)).toMatchObject({
    entry: { command: 'x', args: ['one', 'first-secret', 'default'] },
    secrets: ['first-secret'],
  });
  env.A = 'two';
  store.set('s', 'second-secret');
  expect(expand('srv', entry)).toMatchObject({
    entry: { command: 'x', args: ['two', 'second-secret', 'default'] },
    secrets: ['second-secret'],
  });
});

test('all that is wrong is one error of the server, and nothing has run', () => {
  const expand = makeExpander({ env: {}, secrets: () => storeOf({}) });
  expect(() => expand('srv', { command: '${A}', args: ['${secret:s}'] })).toThrow(
    expect.objectContaining({
      code: 'bad-config',
      server: 'srv',
      hasRun: 'no',
      message:
        'MCP server "srv": the variable A, which command refers to, is not set; set it, or write ${A:-default}; ' +
        'there is no secret s, which args[0] refers to; run "toolplane secret set s"',
    }),
  );
});

test('what objects have by nature is no variable', () => {
  const expand = makeExpander({ env: {}, secrets: UNUSED });
  expect(() => expand('srv', { command: '${constructor}' })).toThrow('the variable constructor');
});

test('a store nobody refers to is not asked', () => {
  const expand = makeExpander({ env: { A: 'one' }, secrets: UNUSED });
  expect(expand('srv', { command: '${A}' })).toMatchObject({ entry: { command: 'one' }, secrets: [] });
});

test('servers in the program, entries that are none and literal ones pass as they are', () => {
  const expand = makeExpander({ env: { A: 'one' }, secrets: UNUSED, literal: (server) => server === 'net' });
  const odd = 5 as unknown as ServerEntry;
  const sdk: ServerEntry = { type: 'sdk', name: '${A}' };
  const written: ServerEntry = { url: 'https://example.test/${A}' };
  expect(expand('srv', sdk).entry).toBe(sdk);
  expect(expand('srv', odd).entry).toBe(odd);
  expect(expand('net', written).entry).toBe(written);
});
