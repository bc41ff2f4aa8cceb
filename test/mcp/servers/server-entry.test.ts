import { expect, test } from 'vitest';
import { readEntry, sdkEntry } from '../../../src/mcp/servers/server-entry.ts';

const initializeResult = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's' } };
const toolsListResult = { tools: [] };

test.each([
  ['with nothing', undefined, undefined, {}],
  ['with limits', { timeout: 5, tools: [{ name: 't' }] }, undefined, { timeout: 5, tools: [{ name: 't' }] }],
  ['with limits that are none', { timeout: '5', tools: {} }, undefined, {}],
  ['with a timeout of nothing', { timeout: 0 }, undefined, {}],
  [
    'with a handshake',
    {},
    { initializeResult, toolsListResult },
    { manifest: { initializeResult, toolsListResult } },
  ],
  ['with half of one', {}, { initializeResult, toolsListResult: 7 }, { manifest: { initializeResult } }],
  ['with none', {}, { initializeResult: { ...initializeResult, protocolVersion: 1 } }, {}],
  ['with garbage', 7, 'x', {}],
])('a server of the program %s', (_, config, manifest, more) => {
  expect(sdkEntry('key', config, manifest)).toEqual({ type: 'sdk', name: 'key', ...more });
});

test('the key is the name, not the name in the entry', () => {
  expect(readEntry('key', { type: 'sdk', name: 'other', instance: {} })).toEqual({
    type: 'sdk',
    name: 'key',
  });
});

test('an external entry is unchanged; an invalid one is refused with its key', () => {
  const entry = { type: 'http', url: 'http://x/', extra: 1 };
  expect(readEntry('k', entry)).toBe(entry);
  for (const odd of [null, 7, [], {}, { command: '' }, { type: 'wsx' }]) {
    expect(() => readEntry('k', odd)).toThrow('mcpServers["k"]');
  }
});
