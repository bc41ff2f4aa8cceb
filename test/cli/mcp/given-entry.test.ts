import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Given, givenEntry, parseJsonEntry, repeatVariables } from '../../../src/cli/mcp/given-entry.ts';

describe('given entry', () => {
  const given = (target: string, more: Partial<Given> = {}) =>
    givenEntry({ target, args: [], env: [], headers: [], ...more });

  test.each<[string, string, Partial<Given>, object]>([
    ['a command', 'npx', { args: ['-y', 'pkg'] }, { type: 'stdio', command: 'npx', args: ['-y', 'pkg'] }],
    ['a command without arguments', './run', {}, { type: 'stdio', command: './run' }],
    ['an address, whose transport is asked for', 'https://a.test/mcp', {}, { url: 'https://a.test/mcp' }],
    ['one of http only', 'http://a.test', { transport: 'http' }, { type: 'http', url: 'http://a.test' }],
    ['an address of a socket', 'wss://a.test', {}, { type: 'ws', url: 'wss://a.test' }],
    [
      'another transport',
      'https://a.test/sse',
      { transport: 'sse' },
      { type: 'sse', url: 'https://a.test/sse' },
    ],
    [
      'an address that is known later',
      '${BASE}/mcp',
      { transport: 'http' },
      { type: 'http', url: '${BASE}/mcp' },
    ],
    [
      'variables, whatever is in them; the later one counts',
      'run',
      { env: ['A=1', 'B==x=\ny', 'E=', 'A=2'] },
      { type: 'stdio', command: 'run', env: { A: '2', B: '=x=\ny', E: '' } },
    ],
    [
      'headers',
      'http://a.test',
      { headers: ['Authorization: Bearer ${T}', 'X-Y:z: 1'] },
      { url: 'http://a.test', headers: { Authorization: 'Bearer ${T}', 'X-Y': 'z: 1' } },
    ],
    [
      'all else',
      'run',
      { cwd: '/x', timeout: 5000, trust: true, onDemand: true },
      { type: 'stdio', command: 'run', cwd: '/x', timeout: 5000, trust: true, start: 'on-demand' },
    ],
    [
      'a registered client',
      'https://a.test/mcp',
      { oauth: { clientId: 'app', callbackPort: 8123 } },
      { url: 'https://a.test/mcp', oauth: { clientId: 'app', callbackPort: 8123 } },
    ],
    ['a command with a dot in it', 'server.py', {}, { type: 'stdio', command: 'server.py' }],
    ['a path of Windows', 'C:\\tools\\x.exe', {}, { type: 'stdio', command: 'C:\\tools\\x.exe' }],
    [
      'an address that is said to be a command',
      'a.test:80',
      { transport: 'stdio' },
      { type: 'stdio', command: 'a.test:80' },
    ],
  ])('builds the entry from %s', (_, target, more, entry) => {
    expect(given(target, more)).toEqual({ kind: 'entry', entry });
  });

  test.each<[string, string, Partial<Given>, RegExp]>([
    ['an address by stdio', 'https://a.test', { transport: 'stdio' }, /-t stdio needs a command/],
    ['a command by http', 'npx', { transport: 'http' }, /-t http needs a URL such as https:/],
    ['a command with arguments by http', 'npx', { transport: 'http', args: ['x'] }, /not a command$/],
    [
      'a variable as a command',
      'B=hunter2',
      { args: ['node'] },
      /^"B=…" looks like an environment variable; set it with -e/,
    ],
    ['a header for a command', 'npx', { headers: ['A: b'] }, /-H sets headers of a URL/],
    [
      'a variable for an address',
      'https://a.test',
      { env: ['A=b'] },
      /-e sets environment variables of a command/,
    ],
    ['an argument for an address', 'https://a.test', { args: ['x'] }, /a URL cannot have arguments/],
    ['a directory for an address', 'https://a.test', { cwd: '/x' }, /--cwd applies only to commands/],
    ['a client for a command', 'npx', { oauth: { clientId: 'app' } }, /--client-id, .* apply only to URLs/],
    [
      'a secret without its client',
      'https://a.test',
      { oauth: { hasSecret: true } },
      /^--client-secret needs --client-id/,
    ],
    ['no KEY=value', 'npx', { env: ['hunter2'] }, /^-e needs KEY=value$/],
    ['no KEY=value but a part', 'npx', { env: ['KEY:hunter2'] }, /^-e "KEY…" is not KEY=value$/],
    ['nothing for a header', 'https://a.test', { headers: ['hunter2'] }, /^-H needs "Name: value"$/],
    ['no header', 'https://a.test', { headers: ['Bearer hunter2'] }, /^-H "Bearer…" is not "Name: value"$/],
    [
      'an address without its scheme',
      'localhost:3000/mcp',
      {},
      /write http:\/\/localhost:3000\/mcp, or -t stdio/,
    ],
    ['a file', 'file:///etc/passwd', {}, /start with http: *\/\//],
    ['nothing', ' ', {}, /the command is empty/],
  ])('rejects %s', (_, target, more, message) => {
    const result = given(target, more);
    expect(result).toMatchObject({ kind: 'faulty', faults: [expect.stringMatching(message)] });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  test('keeps every KEY=value as given', () => {
    const key = fc.constantFrom('A', 'B_1', '__proto__', 'a.b');
    fc.assert(
      fc.property(key, fc.string({ unit: 'binary' }), (name, value) => {
        const result = given('run', { env: [`${name}=${value}`] });
        expect(result).toEqual({
          kind: 'entry',
          entry: { type: 'stdio', command: 'run', env: Object.fromEntries([[name, value]]) },
        });
      }),
    );
  });

  test('does not split a command with spaces, and warns with its first word only', () => {
    expect(given('npx -y hunter2')).toEqual({
      kind: 'entry',
      entry: { type: 'stdio', command: 'npx -y hunter2' },
      notes: [
        'the command contains spaces and is not split into arguments; if the words after npx are arguments, add the server again with --force and without the quotes: -- npx …',
      ],
    });
  });
});

describe('read json', () => {
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
      { notes: ['"arg" is not a known key; did you mean "args"?'] },
    ],
    [
      'what other programs write, with where it goes',
      '{"command": "npx", "transport": "stdio", "autoApprove": ["a"], "alwaysAllow": [], "disabled": true}',
      {
        notes: [
          '"transport" is not supported; use "type" with "stdio", "http", "sse" or "ws"',
          expect.stringMatching(/^"autoApprove" .* "permissions": {"allow": \["mcp__x__<tool>"\]}$/),
          expect.stringMatching(/^"alwaysAllow" .* "permissions"/),
        ],
      },
    ],
    [
      'a command of many words, with how it is written',
      '{"command": "npx -y hunter2"}',
      { notes: [expect.stringMatching(/contains spaces.*"command": "npx", "args": \["…"\]$/)] },
    ],
    [
      'a command that begins with a variable',
      '{"command": "KEY=hunter2 npx"}',
      { notes: ['the command starts with the environment variable KEY; set it in "env"'] },
    ],
    [
      'a whole file of the same name',
      '{"mcpServers": {"x": {"command": "npx"}}}',
      { entry: { command: 'npx' }, notes: [] },
    ],
    [
      'a whole file of another name',
      '{"mcpServers": {"y": {"command": "npx"}}}',
      { notes: ['the entry named "y" is added as "x"'] },
    ],
  ])('parses %s', (_, text, expected) => {
    const read = parseJsonEntry('x', text);
    expect(read).toMatchObject({ kind: 'entry', ...expected });
    expect(JSON.stringify('notes' in read && read.notes)).not.toContain('hunter2');
  });

  test.each<[string, string, RegExp]>([
    ['no JSON', '{"command": hunter2}', /not valid JSON: line 1, column \d+: /],
    ['nothing', '', /must be an object/],
    ['a text', '"npx"', /must be an object/],
    ['a list', '[{"command": "npx"}]', /must be an object/],
    [
      'a server of a program',
      '{"type": "sdk", "name": "x"}',
      /an in-process server cannot be defined in a file/,
    ],
    ['an unknown type', '{"type": "stdoi", "command": "x"}', /unknown type "stdoi"/],
    ['neither', '{}', /neither/],
    [
      'an address by another name',
      '{"httpUrl": "https://a.test"}',
      /neither; "httpUrl" is not supported; use "url"/,
    ],
    ['one more', '{"serverUrl": "https://a.test"}', /neither; "serverUrl" is not supported; use "url"/],
    ['a map', '{"y": {"command": "npx"}}', /pass only the entry, without the name of the server/],
    [
      'two servers',
      '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}',
      /"mcpServers" has 2 servers; pass the entry of one server/,
    ],
    ['no server', '{"mcpServers": {}}', /is empty/],
  ])('rejects %s', (_, text, message) => {
    const read = parseJsonEntry('x', text);
    expect(read).toMatchObject({ kind: 'faulty', faults: [expect.stringMatching(message)] });
    expect(JSON.stringify(read)).not.toContain('hunter2');
  });
});

describe('variables', () => {
  test.each<[string, string]>([
    ['x -e A=1 B=2 -- node y', 'x -e A=1 -e B=2 -- node y'],
    ['-e A=1 B=2 C=3 x node', '-e A=1 -e B=2 -e C=3 x node'],
    ['x --env A=1 B=2 -- node', 'x --env A=1 -e B=2 -- node'],
    ['x --env=A=1 B=2 -- node', 'x --env=A=1 -e B=2 -- node'],
    ['x -eA=1 B=2 -- node', 'x -eA=1 -e B=2 -- node'],
    ['x -e A=1 -e B=2 C=3 -- node', 'x -e A=1 -e B=2 -e C=3 -- node'],
    // The value is taken as it is, whatever it looks like.
    ['x -e -- B=2', 'x -e -- B=2'],
    ['x -e A=1 --force B=2 node', 'x -e A=1 --force B=2 node'],
    ['x -e A=1 node B=2', 'x -e A=1 node B=2'],
    ['x -e A=1 -- node -e B=2 C=3', 'x -e A=1 -- node -e B=2 C=3'],
    ['x -- node -e B=2 C=3', 'x -- node -e B=2 C=3'],
    ['x -e A=1 https://a.test/?b=2', 'x -e A=1 https://a.test/?b=2'],
  ])('expands %s to %s', (line, meant) => {
    expect(repeatVariables(line.split(' '))).toEqual(meant.split(' '));
  });
});
