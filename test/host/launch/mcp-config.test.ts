import { expect, test } from 'vitest';
import { readMcpConfig } from '../../../src/host/launch/mcp-config.ts';

test('servers of every kind, those of the program by their key', () => {
  const mcpServers = {
    files: { command: 'node', args: ['x'] },
    web: { type: 'http', url: 'http://127.0.0.1/mcp' },
    calc: { type: 'sdk', name: 'other', timeout: 5, instance: {} },
  };
  expect(readMcpConfig({ mcpServers }, 'here')).toEqual({
    servers: {
      files: mcpServers.files,
      web: mcpServers.web,
      calc: { type: 'sdk', name: 'calc', timeout: 5 },
    },
    faults: [],
  });
});

test('a bad entry is a fault that names its place, beside the good ones', () => {
  const { servers, faults } = readMcpConfig(
    { mcpServers: { bad: { command: '' }, good: { command: 'x' } } },
    'f.json',
  );
  expect(Object.keys(servers)).toEqual(['good']);
  expect(faults).toEqual(['f.json: mcpServers["bad"]: a stdio server needs "command", a non-empty string']);
});

test.each([[null], [[]], [{}], [{ mcpServers: [] }], ['x']])('%j names no servers', (raw) => {
  expect(readMcpConfig(raw, 'here')).toEqual({ servers: {}, faults: ['here has no "mcpServers" object'] });
});
