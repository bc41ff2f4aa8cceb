import { expect, test } from 'vitest';
import { type ServersKind, serversObject } from '../../../src/config/sources/servers-object.ts';

const SERVER = { command: 'x' };
const ALL: readonly ServersKind[] = ['file', 'plugin', 'settings', 'given'];

test.each(ALL)('C5: in a %s the servers stand in mcpServers', (kind) => {
  expect(serversObject({ mcpServers: { a: SERVER }, inputs: [] }, kind)).toEqual({
    kind: 'found',
    way: ['mcpServers'],
    servers: { a: SERVER },
  });
});

test.each<[object, ServersKind, readonly string[], string]>([
  [{ mcpServers: [] }, 'file', ['mcpServers'], 'it must be an object'],
  [{ mcpServers: null }, 'settings', ['mcpServers'], 'it must be an object'],
  [{ servers: { a: SERVER } }, 'file', ['servers'], 'call it so'],
  [{ servers: { a: SERVER } }, 'plugin', ['servers'], 'call it so'],
  [{ mcp_servers: {} }, 'file', ['mcp_servers'], 'call it so'],
  [{ 'mcp-servers': {} }, 'given', ['mcp-servers'], 'call it so'],
  [{ MCPServers: {} }, 'file', ['MCPServers'], 'call it so'],
  [{ a: SERVER }, 'file', [], 'write { "mcpServers": { … } } around them'],
  [{ a: { url: 'https://h' } }, 'given', [], 'write { "mcpServers": { … } } around them'],
  [{ a: 1 }, 'file', [], 'it has no "mcpServers" object'],
  [{ a: 1 }, 'plugin', [], 'it has no "mcpServers" object'],
  [{}, 'given', [], 'it has no "mcpServers" object'],
])('C5: %j in a %s is told', (value, kind, way, message) => {
  expect(serversObject(value as Record<string, unknown>, kind)).toEqual({
    kind: 'faulty',
    way,
    message: expect.stringContaining(message),
  });
});

test('C5: in a plugin the wrapper may be left out', () => {
  const value = { $schema: 'x', a: SERVER, b: 5 };
  expect(serversObject(value, 'plugin')).toEqual({ kind: 'found', way: [], servers: { a: SERVER, b: 5 } });
});

test.each<[object, ServersKind]>([
  [{}, 'file'],
  [{}, 'plugin'],
  [{}, 'settings'],
  [{ model: 'x', mcp_servers: {} }, 'settings'],
])('%j in a %s names no servers, and that is fine', (value, kind) => {
  expect(serversObject(value as Record<string, unknown>, kind)).toMatchObject({ kind: 'found', servers: {} });
});
