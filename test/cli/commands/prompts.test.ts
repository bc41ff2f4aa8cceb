import { expect, test } from 'vitest';
import { config, EVERYTHING, odd } from '../support/real-servers.ts';
import { runCli } from '../support/run-cli.ts';

const ODD = ['--mcp-config', config({ odd: odd() })];

test('lists prompts with their arguments', async () => {
  const { code, stdout } = await runCli([
    'prompts',
    '--mcp-config',
    config({ odd: odd(), everything: EVERYTHING }),
  ]);
  expect(stdout).toMatch(
    /^odd \(1 prompt\)\n {2}greet {2}who=… \[mood=…\] {2}Greets\n\neverything \(\d+ prompts\)\n/,
  );
  expect(code).toBe(0);
});

test('passes arguments of a prompt as strings', async () => {
  expect(await runCli(['prompts', 'get', 'odd', 'greet', 'who=5', '__proto__=x', ...ODD])).toEqual({
    code: 0,
    stdout: 'user:\ngreet {"who":"5","__proto__":"x"}\n',
    stderr: 'toolplane: odd greet: unknown argument "__proto__" (accepted: who, mood)\n',
  });
});

test("--json prints the server's response", async () => {
  const { stdout } = await runCli(['prompts', 'get', 'odd', 'greet', 'who=you', '--json', ...ODD]);
  expect(JSON.parse(stdout)).toEqual({
    messages: [{ role: 'user', content: { type: 'text', text: 'greet {"who":"you"}' } }],
  });
});

test.each([
  ['what is missing', ['get', 'odd', 'greet'], /missing arguments of prompt "greet": "who"/],
  ['an unknown action', ['get', 'odd', 'greet', 'who'], /"who" is not key=value/],
  ['too few words', ['get', 'odd'], /usage: prompts get <server> <prompt> \[key=value…\]/],
])('%s is exit code 2', async (_, words, message) => {
  const { code, stdout, stderr } = await runCli(['prompts', ...words, ...ODD]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
