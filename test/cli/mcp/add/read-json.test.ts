import { expect, test } from 'vitest';
import { readJson } from '../../../../src/cli/mcp/add/read-json.ts';

test.each<[string, string, object]>([
  ['an entry', '{"command": "npx"}', { entry: { command: 'npx' }, notes: [] }],
  [
    'one with a comment and a comma',
    '{"url": "https://a.test", /* x */}',
    { entry: { url: 'https://a.test' } },
  ],
  ['one after a byte order mark', '\ufeff{"command": "npx"}', { entry: { command: 'npx' } }],
  [
    'a typo, with what may be meant',
    '{"command": "npx", "arg": []}',
    { notes: ['"arg" means nothing here; did you mean "args"?'] },
  ],
  [
    'a whole file of the same name',
    '{"mcpServers": {"x": {"command": "npx"}}}',
    { entry: { command: 'npx' }, notes: [] },
  ],
  [
    'a whole file of another name',
    '{"mcpServers": {"y": {"command": "npx"}}}',
    { notes: ['it is called "y" there, and "x" from now on'] },
  ],
])('%s is understood', (_, text, read) => {
  expect(readJson('x', text)).toMatchObject({ kind: 'entry', ...read });
});

test.each<[string, string, RegExp]>([
  ['no JSON', '{"command": hunter2}', /it is no JSON: line 1, column \d+: /],
  ['nothing', '', /must be an object/],
  ['a text', '"npx"', /must be an object/],
  ['a list', '[{"command": "npx"}]', /must be an object/],
  ['a server of a program', '{"type": "sdk", "name": "x"}', /a server in a program cannot be in a file/],
  ['an unknown type', '{"type": "stdoi", "command": "x"}', /unknown type "stdoi"/],
  ['neither', '{}', /neither/],
  ['a map', '{"y": {"command": "npx"}}', /give only what stands behind the name/],
  [
    'two servers',
    '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}',
    /it holds 2 servers; give one/,
  ],
  ['no server', '{"mcpServers": {}}', /is empty/],
])('%s is refused', (_, text, message) => {
  const read = readJson('x', text);
  expect(read).toMatchObject({ kind: 'faulty', faults: [expect.stringMatching(message)] });
  expect(JSON.stringify(read)).not.toContain('hunter2');
});
