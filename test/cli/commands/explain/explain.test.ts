import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configPlace } from '../../../config/config-place.ts';
import { PROCESSES } from '../../../mcp/contract/support/third-party-servers.ts';
import { CLI } from '../../../support/setup/built-package.ts';
import { odd } from '../../support/real-servers.ts';
import { fixture, runCli } from '../../support/run-cli.ts';

const docs = { command: process.execPath, args: [CLI, 'serve', fixture('docs.ts'), '--export', 'docs'] };

function place(user: object, project?: object) {
  const made = configPlace();
  made.write(join(made.home, 'settings.json'), user);
  if (project) made.write(join(made.project, '.mcp.json'), project);
  return {
    ...made,
    explain: (...args: string[]) => runCli(['explain', ...args], '', { cwd: made.project, env: made.env }),
  };
}

test('connects to a working server and exits with 0', async () => {
  const { explain } = place({ mcpServers: { docs } });
  const { code, stdout, stderr } = await explain('server', 'docs');
  expect(stdout).toContain('✓ "docs" is connected, from ~/.toolplane/settings.json:3:5 (user).');
  expect(stdout).toMatch(/^connection +connected, .* 1 tool$/m);
  expect(stdout).toMatch(/\nnext: no action needed\n$/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('the JSON document contains the whole derivation and no secrets', async () => {
  const broken = { command: 'toolplane-no-such-command', env: { API_TOKEN: 'abcdefgh-secret' } };
  const { explain } = place({ mcpServers: { broken } });
  const { code, stdout } = await explain('server', 'broken', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'server',
    name: 'broken',
    status: 'unusable',
    verdict: 'ready',
    winner: { scope: 'user', line: 3, column: 5 },
    entry: { env: { API_TOKEN: '[hidden]' } },
    connection: { state: 'failed', code: 'spawn-failed' },
    timeouts: [{ limit: 'connect' }, { limit: 'call' }, { limit: 'idle' }],
    next: [expect.stringContaining('toolplane-no-such-command')],
  });
  expect(stdout).not.toContain('abcdefgh');
  expect(code).toBe(1);
});

test('never starts a server that is pending approval (R169)', async () => {
  const it = place({}, {});
  const mark = join(it.project, 'started');
  const code = `require('fs').writeFileSync(${JSON.stringify(mark)}, '')`;
  it.write(join(it.project, '.mcp.json'), {
    mcpServers: { evil: { command: process.execPath, args: ['-e', code] } },
  });
  expect((await it.explain('server', 'evil')).code).toBe(1);
  expect((await it.explain('tool', 'mcp__evil__x')).code).toBe(1);
  expect(existsSync(mark)).toBe(false);
});

test('--no-connect starts no server', async () => {
  const { explain } = place({ mcpServers: { docs: { ...docs, command: 'toolplane-no-such-command' } } });
  const { code, stdout } = await explain('server', 'docs', '--no-connect');
  expect(stdout).toMatch(/^connection +not tried$/m);
  expect(code).toBe(0);
});

test('explains a tool that its server lists; suggests one for a typo', async () => {
  const { explain } = place({ mcpServers: { docs } });
  const found = await explain('tool', 'docs', 'search', '--json');
  expect(JSON.parse(found.stdout)).toMatchObject({
    status: 'usable',
    server: 'docs',
    tool: 'search',
    pooledName: 'mcp__docs__search',
    tokens: expect.any(Number),
    offered: { is: true },
    deferred: { is: false },
  });
  const typo = await explain('tool', 'mcp__docs__serch');
  expect(typo.stdout).toMatch(/^next: toolplane explain tool mcp__docs__search$/m);
  expect([found.code, typo.code]).toEqual([0, 2]);
});

test('explains the configuration of a run with the same flags', async () => {
  const { explain } = place({ mcpServers: { docs } });
  const other = JSON.stringify({ mcpServers: { other: docs } });
  const strict = await explain('server', 'docs', '--mcp-config', other, '--strict-mcp-config');
  expect(strict.stdout).toContain('excluded by --strict-mcp-config');
  const scopes = await explain('server', 'docs', '--setting-sources', 'project', '--no-connect');
  expect(scopes.stdout).toContain('run without --setting-sources');
  const program = await explain('server', 'other', '--mcp-config', other, '--no-connect');
  expect(program.stdout).toContain('(program)');
  expect([strict.code, scopes.code, program.code]).toEqual([1, 2, 0]);
});

test('explains permissions and timeouts, and all servers in one line each', async () => {
  const { explain } = place(
    { mcpServers: { docs }, permissions: { deny: ['Bash(rm:*)'] } },
    { mcpServers: { new: docs } },
  );
  const denied = await explain('permission', 'Bash', '{"command": "rm -rf /"}');
  expect(denied.stdout).toMatch(
    /^✗ Bash is denied: deny rule "Bash\(rm:\*\)" in .*settings\.json:\d+:\d+ \(user\)\.$/m,
  );
  const asked = await explain('permission', 'Bash', '{"command": "ls"}', '--permission-mode', 'default');
  const limit = await explain('timeout', 'docs');
  expect(limit.stdout).toContain('connect  30 s');
  const all = await explain('server');
  expect(all.stdout.split('\n').map((line) => line.slice(0, 8))).toEqual([
    '✓ "docs"',
    '⏸ "new" ',
    '',
    'next: fo',
    '',
  ]);
  expect([denied.code, asked.code, limit.code, all.code]).toEqual([1, 0, 0, 0]);
});

test.each([
  [['server', 'nope'], /Unknown server "nope"/],
  [['tool', 'nope'], /Unknown tool "nope"/],
  [['timeout', 'nope'], /Unknown server or tool "nope"/],
  [['permission', 'mcp__nope__x'], /Unknown tool "mcp__nope__x"/],
  [['permission', 'Bash', 'no json'], /Expected a JSON object/],
  [['sever'], /Did you mean server/],
  [['tool'], /missing required argument/],
])('%j is a usage error or an unknown name: exit code 2', async (args, says) => {
  const { explain } = place({});
  const { code, stdout, stderr } = await explain(...args);
  expect(stdout + stderr).toMatch(says);
  expect(code).toBe(2);
});

test('a usage error is a JSON document too', async () => {
  const { code, stdout } = await place({}).explain('permission', 'Bash', '[]', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ error: { message: expect.stringContaining('JSON object') } });
  expect(code).toBe(2);
});

test('content of files cannot break lines or send control characters to the terminal', async () => {
  const name = 'odd\n✓ "fake" works\u001b[31m';
  const { explain } = place({
    mcpServers: { [name]: { command: 'node', args: ['a\nb\u001b]0;title\u0007'] } },
  });
  const all = await explain('server');
  const one = await explain('server', name, '--no-connect');
  for (const { stdout } of [all, one]) {
    expect(stdout).not.toMatch(/^✓ "fake"/m);
    expect(stdout).not.toContain('\u001b');
  }
});

test('a permission is decided on the real path, as in a session', async () => {
  const { explain, project, userHome, write } = place({
    permissions: { deny: ['Read(~/private/**)', 'Read(./shelf/**)'] },
  });
  write(join(userHome, 'private', 'key'), 'x');
  write(join(userHome, 'books', 'one'), 'x');
  symlinkSync(join(userHome, 'books'), join(project, 'shelf'));
  symlinkSync(join(userHome, 'private'), join(project, 'link'));
  symlinkSync('loop', join(project, 'loop'));
  const input = (path: string) => JSON.stringify({ file_path: path });
  const [real, led, loop, plain] = await Promise.all([
    explain('permission', 'Read', input('~/books/one')),
    explain('permission', 'Read', input('link/key')),
    explain('permission', 'Read', input('loop'), '--json'),
    explain('permission', 'Read', input('.git'), '--json'),
  ]);
  expect(real.stdout).toContain('✗ Read is denied: deny rule "Read(./shelf/**)"');
  expect(led.code).toBe(1);
  expect(led.stdout).toContain('✗ Read is denied: deny rule "Read(~/private/**)"');
  expect(led.stdout).toContain(`resolves to ${join(userHome, 'private', 'key')}\n`);
  expect(JSON.parse(loop.stdout)).toMatchObject({
    decision: 'deny',
    status: 'unusable',
    next: ['use another path'],
  });
  expect(JSON.parse(plain.stdout)).toMatchObject({ decision: 'allow' });
  expect(JSON.parse(plain.stdout)).not.toHaveProperty('path');
});

test('matching hooks are listed above the rules', async () => {
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }] };
  const { explain } = place({ hooks });
  const { stdout } = await explain('permission', 'Bash', '{"command": "make"}');
  expect(stdout).toMatch(/^⏸ Bash requires approval: .*, unless the PreToolUse hook at .* otherwise/);
  expect(stdout).toMatch(/^hooks that run first\n {2}PreToolUse Bash {2}\.\/guard\.sh {2}~.*\(user\)\n/m);
});

test('declares the client capabilities of a session, so that a server lists the same tools', async () => {
  const { explain, project, env } = place({ mcpServers: { everything: PROCESSES.everything } });
  const [tool, server, list] = await Promise.all([
    explain('tool', 'everything', 'get-roots-list'),
    explain('server', 'everything', '--json'),
    runCli(['mcp', 'list', '--json'], '', { cwd: project, env }),
  ]);
  expect(tool.stdout).toMatch(/^offered +yes: the server lists the tool/m);
  expect(tool.code).toBe(0);
  const { connection } = JSON.parse(server.stdout);
  const [row] = JSON.parse(list.stdout).servers;
  expect(connection).toMatchObject({ state: 'connected' });
  expect(connection.tools).toBeGreaterThan(0);
  expect(row.tools).toBe(connection.tools);
});

test('suggests a rule that allows exactly this call, and a similar name for an unknown tool', async () => {
  const { explain } = place({});
  const [push, bsh] = await Promise.all([
    explain('permission', 'Bash', '{"command":"git push"}'),
    explain('permission', 'Bsh'),
  ]);
  expect(push.stdout).toContain('add "Bash(git push)" to permissions.allow');
  expect(bsh.stdout).toContain('Unknown tool "Bsh"; did you mean "Bash"?');
  expect(bsh.stdout).toMatch(/^next: toolplane explain permission Bash$/m);
  expect(bsh.code).toBe(2);
});

test('limits of a file that is not approved are shown as pending', async () => {
  const { explain, project, write } = place({ mcpServers: { docs } });
  write(join(project, '.toolplane/settings.json'), { timeouts: { callMs: 7 } });
  const { stdout } = await explain('timeout', 'docs');
  expect(stdout).toMatch(
    /^ +pending +7 ms +timeouts\.callMs of settings at \.toolplane\/settings\.json:3:\d+, ignored: the file is not approved$/m,
  );
  expect(stdout).toContain('toolplane mcp approve');
});

test('accepts a call that is written as in a rule', async () => {
  const { explain } = place({
    mcpServers: { docs },
    permissions: { deny: ['Bash(git push *)', 'Read(~/.ssh/**)'], allow: ['Bash(git log *)', 'mcp__docs'] },
  });
  const document = async (...args: string[]) => {
    const { code, stdout } = await explain('permission', ...args, '--json');
    return { code, ...JSON.parse(stdout) };
  };
  const [push, log, key, server, twice, broken] = await Promise.all([
    document('Bash(git push)'),
    document('Bash(git log -1)'),
    document('Read(~/.ssh/id_rsa)'),
    document('mcp__docs'),
    document('Bash(git push)', '{"command": "ls"}'),
    document('Bash(git push'),
  ]);
  expect(push).toMatchObject({ code: 1, name: 'Bash', decision: 'deny', input: { command: 'git push' } });
  expect(log).toMatchObject({ code: 0, decision: 'allow' });
  expect(key).toMatchObject({ code: 1, decision: 'deny' });
  expect(server).toMatchObject({ code: 0, decision: 'allow', status: 'usable' });
  expect(twice).toEqual({ code: 2, error: { message: expect.stringContaining('given twice') } });
  expect(broken).toEqual({
    code: 2,
    error: { message: expect.stringContaining('is invalid; write "Tool"') },
  });
});

test('explains that a tool was dropped because of its schema, with exit code 1', async () => {
  const { explain } = place({ mcpServers: { odd: odd() } });
  for (const words of [['mcp__odd__broken'], ['odd', 'broken'], ['broken']]) {
    const { code, stdout } = await explain('tool', ...words);
    expect(stdout).toContain(
      'is not offered: the server lists the tool, but the definition is invalid: "inputSchema" must be an object.',
    );
    expect(code).toBe(1);
  }
});
