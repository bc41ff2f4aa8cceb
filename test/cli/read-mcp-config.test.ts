import { expect, test } from 'vitest';
import { readMcpConfigs } from '../../src/cli/read-mcp-config.ts';
import { jsonFile } from './json-file.ts';

test('a file or a text names servers', () => {
  const text = '{"mcpServers":{"a":{"command":"x"}}}';
  expect(readMcpConfigs([jsonFile(`\ufeff${text}`)])).toEqual({ a: { command: 'x' } });
  expect(readMcpConfigs([`  ${text}`])).toEqual({ a: { command: 'x' } });
  expect(readMcpConfigs([])).toEqual({});
});

test.each([
  [
    'a file that is not there',
    () => 'no-such-file.json',
    /^--mcp-config no-such-file\.json cannot be read: ENOENT/,
  ],
  [
    'a file that is no JSON',
    () => jsonFile('{'),
    /^--mcp-config .*flag\.json is no JSON: it ends too early$/,
  ],
  ['a text that is no JSON', () => '{"a', /^--mcp-config is no JSON: it ends too early$/],
  [
    'a file without servers',
    () => jsonFile('{"servers":{}}'),
    /flag\.json: there is no "mcpServers" object in it$/,
  ],
  ['a list of servers', () => '{"mcpServers":[]}', /there is no "mcpServers" object in it$/],
  [
    'a server that cannot be',
    () => '{"mcpServers":{"a":{"type":"foo"}}}',
    /^--mcp-config: mcpServers\["a"\]: unknown type "foo"/,
  ],
])('%s is named', (_, given, message) => {
  expect(() => readMcpConfigs([given()])).toThrow(message);
});

test('a server of any name is kept, and of two with one name the later', () => {
  const servers = readMcpConfigs([
    '{"mcpServers":{"__proto__":{"command":"x"},"a":{"command":"y"}}}',
    '{"mcpServers":{"a":{"command":"z"}}}',
  ]);
  expect(Object.entries(servers)).toEqual([
    ['__proto__', { command: 'x' }],
    ['a', { command: 'z' }],
  ]);
});

test('what is wrong with a file is told without what it holds', () => {
  const path = jsonFile('{"mcpServers": {"a": {\n  "env": {"KEY": sk-secret}}}}');
  const read = () => readMcpConfigs([path]);
  expect(read).toThrow(`--mcp-config ${path} is no JSON: see line 2, column 18`);
  expect(read).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
});
