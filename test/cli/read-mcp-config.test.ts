import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readMcpConfigs } from '../../src/cli/read-mcp-config.ts';

function file(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'mcp.json');
  writeFileSync(path, content);
  return path;
}

test('a file or a text names servers', () => {
  const text = '{"mcpServers":{"a":{"command":"x"}}}';
  expect(readMcpConfigs([file(`\ufeff${text}`)])).toEqual({ a: { command: 'x' } });
  expect(readMcpConfigs([`  ${text}`])).toEqual({ a: { command: 'x' } });
  expect(readMcpConfigs([])).toEqual({});
});

test.each([
  [
    'a file that is not there',
    () => 'no-such-file.json',
    /^--mcp-config no-such-file\.json cannot be read: ENOENT/,
  ],
  ['a file that is no JSON', () => file('{'), /^--mcp-config .*mcp\.json is no JSON: /],
  ['a text that is no JSON', () => '{"a', /^--mcp-config is no JSON: /],
  [
    'a file without servers',
    () => file('{"servers":{}}'),
    /mcp\.json: there is no "mcpServers" object in it$/,
  ],
  ['a list of servers', () => '{"mcpServers":[]}', /there is no "mcpServers" object in it$/],
])('%s is named', (_, given, message) => {
  expect(() => readMcpConfigs([given()])).toThrow(message);
});
