import { expect, test } from 'vitest';
import { BROKEN, config, odd } from './host/real-servers.ts';
import { runCli } from './run-cli.ts';

const SERVERS = ['--mcp-config', config({ odd: odd(), broken: BROKEN })];
const said = (text: string) => expect.stringContaining(text);

test.each<[string, string[], number, object]>([
  [
    'a refusal of the server',
    ['call', 'odd', 'refuse'],
    1,
    { message: 'server odd: not for you', code: -32603 },
  ],
  [
    'a call that takes too long',
    ['call', 'odd', 'hang', '--timeout', '300'],
    1,
    { message: said('took longer than 300 ms'), code: 'timeout' },
  ],
  [
    'a tool that its server lists wrongly',
    ['call', 'odd', 'broken'],
    1,
    { message: said('lists "broken", but it cannot be called: "inputSchema"') },
  ],
  ['an unknown tool', ['call', 'odd', 'typd'], 2, { message: said('did you mean "typed"?') }],
  [
    'an unknown server',
    ['call', 'od', 'typed'],
    2,
    { message: 'there is no server "od" (there are odd, broken)' },
  ],
  [
    'a server that cannot be used',
    ['call', 'broken', 'x'],
    1,
    { message: said('server broken: its command is not found'), code: 'spawn-failed' },
  ],
  ['a tool that waits for nobody', ['tools', 'accept', 'none'], 2, { message: said('waits to be accepted') }],
])('with --json %s is a document too', async (_, words, code, error) => {
  const { stdout, stderr, ...rest } = await runCli([...words, '--json', ...SERVERS]);
  expect({ ...rest, said: JSON.parse(stdout) }).toEqual({ code, said: { error } });
  expect(stderr).not.toBe('');
});
