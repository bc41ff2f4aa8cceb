import { expect, test } from 'vitest';
import { mcpPlace } from '../support/mcp-place.ts';

const OWN = [
  'add',
  'add-json',
  'list',
  'get',
  'remove',
  'approve',
  'reject',
  'reset-project-choices',
  'login',
  'logout',
];

test('the help lists commands, files and exit codes, but no aliases', async () => {
  const { code, stdout, stderr } = await mcpPlace().mcp('--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const name of OWN) expect(stdout).toMatch(new RegExp(`\\n  ${name} `));
  for (const text of ['settings.local.json', '.mcp.json', 'settings.json', '130  interrupted']) {
    expect(stdout).toContain(text);
  }
  expect(stdout).not.toMatch(/\n {2}(rm|ls|add-from-claude-desktop) /);
});

test('every sub-command has help with --json and exit codes', async () => {
  const place = mcpPlace();
  const names = [...OWN, 'rm', 'ls', 'add-from-claude-desktop'];
  const all = await Promise.all(names.map((name) => place.mcp(name, '--help')));
  for (const [at, { code, stdout }] of all.entries()) {
    expect({ name: names[at], code }).toEqual({ name: names[at], code: 0 });
    expect(stdout).toContain(`Usage: toolplane mcp ${names[at]}`);
    expect(stdout).toContain('--json');
    if (names[at] !== 'add-from-claude-desktop') expect(stdout).toContain('Exit codes:');
  }
}, 60_000);

test('a misspelt or missing sub-command is a usage error with a suggestion, also as JSON', async () => {
  const place = mcpPlace();
  const [typo, none] = await Promise.all([place.mcp('aprove', '--json'), place.mcp()]);
  expect(typo).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/unknown command 'aprove'[\s\S]*Did you mean approve\?/),
  });
  expect(JSON.parse(typo.stdout)).toEqual({ error: { message: expect.stringContaining('approve?') } });
  expect(none).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Usage: toolplane mcp'),
  });
});
