import { expect, test } from 'vitest';
import { readMcpConfigs } from '../../src/cli/read-mcp-config.ts';
import { jsonFile } from './json-file.ts';

/** What is taken, and what is said of the rest. */
function read(...given: string[]) {
  const told: string[] = [];
  return { servers: readMcpConfigs(given, (line) => told.push(line)), told };
}

test('a file or a text names servers', () => {
  const text = '{"mcpServers":{"a":{"command":"x"}}}';
  const one = { servers: { a: { command: 'x' } }, told: [] };
  expect(read(jsonFile(`\ufeff${text}`))).toEqual(one);
  expect(read(`  ${text}`)).toEqual(one);
  expect(read()).toEqual({ servers: {}, told: [] });
});

test('it may have comments, and variables in an address', () => {
  const path = jsonFile('{\n  // ours\n  "mcpServers": { "a": { "url": "${BASE}/mcp" }, },\n}');
  expect(read(path)).toEqual({ servers: { a: { url: '${BASE}/mcp' } }, told: [] });
});

test('an entry that cannot be used is told with its place, and the others are taken', () => {
  const path = jsonFile(
    '{"mcpServers": {\n  "a": {"type": "foo"},\n  "b": {"type": "sdk", "name": "b"},\n  "c": {"command": "x"},\n  "--all": {"command": "y"}\n}}',
  );
  expect(read(path)).toEqual({
    servers: { c: { command: 'x' } },
    told: [
      expect.stringMatching(/^--mcp-config .*flag\.json:2:9: mcpServers\.a\.type: unknown type "foo"/),
      expect.stringMatching(/flag\.json:3:9: mcpServers\.b\.type: a server in a program cannot be in a file/),
      expect.stringMatching(/flag\.json:5:3: mcpServers\.--all: .*does not begin with "-"/),
    ],
  });
});

test.each([
  ['a file that is not there', () => 'no-such.json', /^--mcp-config no-such\.json: there is no such file/],
  ['a file that is no JSON', () => jsonFile('{'), /^--mcp-config .*flag\.json:1:2: /],
  ['a text that is no JSON', () => '{"a', /^--mcp-config:1:\d+: /],
  ['a file without servers', () => jsonFile('{"servers":{}}'), /flag\.json:1:2: servers: .*"mcpServers"/],
  ['a list of servers', () => '{"mcpServers":[]}', /^--mcp-config:1:2: mcpServers: it must be an object/],
])('%s is named, and nothing of it taken', (_, given, message) => {
  expect(() => read(given())).toThrow(message);
});

test('of two servers with one name the later is taken', () => {
  const { servers } = read(
    '{"mcpServers":{"a":{"command":"y"}}}',
    '{"mcpServers":{"a":{"command":"z"},"constructor":{"command":"x"}}}',
  );
  expect(servers).toEqual({ a: { command: 'z' }, constructor: { command: 'x' } });
});

test('what is wrong with a file is told without what it holds', () => {
  const path = jsonFile('{"mcpServers": {"a": {\n  "env": {"KEY": sk-secret}}}}');
  expect(() => read(path)).toThrow(/flag\.json:2:18: /);
  expect(() => read(path)).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('secret') }),
  );
});
