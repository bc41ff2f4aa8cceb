import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { alternatives, dial } from '../../../src/mcp/transports/transports.ts';
import { testWorld } from '../support/servers.ts';

test('a url without a type may be of either HTTP, the newer first', () => {
  const entry = { url: 'http://h/mcp', headers: { a: 'b' } };
  expect(alternatives(entry)).toEqual([
    { ...entry, type: 'http' },
    { ...entry, type: 'sse' },
  ]);
});

test.each<ServerEntry>([
  { command: 'x' },
  { type: 'http', url: 'http://h' },
  { type: 'ws-ide' },
  { type: 'sdk', name: 'x' },
])('%j is what it is', (entry) => {
  expect(alternatives(entry)).toEqual([entry]);
});

test('a kind of server that has no transport is refused by name', () => {
  const entry = { type: 'grpc', url: 'grpc://h' } as unknown as ServerEntry;
  expect(() => dial('srv', entry, testWorld())).toThrow(
    'MCP server "srv": unknown server type "grpc"; use one of stdio, http, sse, ws, sse-ide, ws-ide, sdk',
  );
});
