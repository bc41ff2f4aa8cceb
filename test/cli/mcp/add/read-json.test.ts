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
    'what other programs write, with where it goes',
    '{"command": "npx", "transport": "stdio", "autoApprove": ["a"], "alwaysAllow": [], "disabled": true}',
    {
      notes: [
        '"transport" is "type" here, which is "stdio", "http", "sse" or "ws"',
        expect.stringMatching(/^"autoApprove" .* "permissions": {"allow": \["mcp__x__<tool>"\]}$/),
        expect.stringMatching(/^"alwaysAllow" .* "permissions"/),
      ],
    },
  ],
  [
    'a command of many words, with how it is written',
    '{"command": "npx -y hunter2"}',
    { notes: [expect.stringMatching(/one word with blanks.*"command": "npx", "args": \["…"\]$/)] },
  ],
  [
    'a command that begins with a variable',
    '{"command": "KEY=hunter2 npx"}',
    { notes: ['the command begins with the variable KEY, which "env" takes'] },
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
])('%s is understood', (_, text, expected) => {
  const read = readJson('x', text);
  expect(read).toMatchObject({ kind: 'entry', ...expected });
  expect(JSON.stringify('notes' in read && read.notes)).not.toContain('hunter2');
});

test.each<[string, string, RegExp]>([
  ['no JSON', '{"command": hunter2}', /it is no JSON: line 1, column \d+: /],
  ['nothing', '', /must be an object/],
  ['a text', '"npx"', /must be an object/],
  ['a list', '[{"command": "npx"}]', /must be an object/],
  ['a server of a program', '{"type": "sdk", "name": "x"}', /a server in a program cannot be in a file/],
  ['an unknown type', '{"type": "stdoi", "command": "x"}', /unknown type "stdoi"/],
  ['neither', '{}', /neither/],
  ['an address by another name', '{"httpUrl": "https://a.test"}', /neither; "httpUrl" is "url" here/],
  ['one more', '{"serverUrl": "https://a.test"}', /neither; "serverUrl" is "url" here/],
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
