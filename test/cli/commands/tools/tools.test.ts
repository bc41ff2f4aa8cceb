import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { ToolsReport } from '../../../../src/cli/commands/tools/report.ts';
import { placeOf } from '../../../../src/pool/pinning/pin-watch.ts';
import { openPins } from '../../../../src/pool/pinning/pins.ts';
import { startEverything } from '../../../mcp/contract/support/third-party-servers.ts';
import { jsonFile } from '../../support/json-file.ts';
import { BROKEN, config, EVERYTHING, filesystem, MEMORY, odd } from '../../support/real-servers.ts';
import { runCli, startCli } from '../../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../../support/terminal-process.ts';

const tools = (mcpServers: Readonly<Record<string, object>>, ...flags: readonly string[]) =>
  runCli(['tools', '--mcp-config', config(mcpServers), ...flags]);

test('lists published servers by name; reports a failed one with exit code 1', async () => {
  const { code, stdout, stderr } = await tools({
    everything: EVERYTHING,
    broken: BROKEN,
    files: filesystem(tmpdir()),
  });
  expect(stdout).toMatch(
    /^everything \(\d+ tools, mcp-servers\/everything [\d.]+\)\n {2}echo +readOnly +Echoes/,
  );
  expect(stdout).toMatch(/\n\nfiles \(\d+ tools, .*\)\n/);
  expect(stdout).toMatch(/\n {2}write_file +destructive +Create a new file/);
  expect(stdout).not.toContain('broken');
  expect(stderr).toBe(
    'toolplane: server broken: command not found: no-such-command-at-all; install it or set an absolute path in "command"\n',
  );
  expect(code).toBe(1);
});

test('--json prints one document with connected and failed servers', async () => {
  const { code, stdout } = await tools({ odd: odd(), memory: MEMORY, broken: BROKEN }, '--json');
  const { servers, totals } = JSON.parse(stdout) as ToolsReport;
  expect(servers.map(({ name, status, error }) => ({ name, status, isWrong: error !== undefined }))).toEqual([
    { name: 'odd', status: 'connected', isWrong: false },
    { name: 'memory', status: 'connected', isWrong: false },
    { name: 'broken', status: 'failed', isWrong: true },
  ]);
  const [first, memory] = servers;
  expect(first?.tools.find(({ name }) => name === 'a.b')).toEqual({
    name: 'a.b',
    pooledName: 'mcp__odd__a_b',
    description: 'First of two',
    annotations: { destructiveHint: true },
    inputSchema: { type: 'object', properties: {} },
    tokens: expect.any(Number),
  });
  // The invalid tool is reported, and the second tool of one name has an alias.
  expect(first?.warnings).toEqual([
    expect.stringContaining('tool "broken": "inputSchema" must be an object'),
    expect.stringMatching(
      /^tool "a\/b" is offered as mcp__odd__a_b_\w{8}: another tool already has the name mcp__odd__a_b$/,
    ),
    expect.stringContaining(
      'the tool contains deceptive characters: its name has 1 terminal escape sequence',
    ),
  ]);
  expect(memory).toMatchObject({
    era: expect.any(String),
    serverInfo: { name: 'memory-server' },
    warnings: [],
  });
  expect(memory?.tokens).toBe(memory?.tools.reduce((sum, { tokens }) => sum + tokens, 0));
  expect(totals).toMatchObject({
    servers: 3,
    connected: 2,
    tools: servers.reduce((sum, it) => sum + it.tools.length, 0),
    tokens: servers.reduce((sum, it) => sum + it.tokens, 0),
    window: 200_000,
  });
  expect(code).toBe(1);
});

test('text of servers is sanitized, and wide names keep the table aligned', async () => {
  const { code, stdout, stderr } = await tools({ odd: odd() });
  expect(stdout).toContain('  look␛[31m                Paints␛]0;owned␇ the <U+202E>terminal\n');
  expect(stdout).toContain('  検索        readOnly     日本語のページを検索する\n');
  expect(stdout).toContain('  a.b         destructive  First of two\n');
  expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(stderr.split('\n').filter((line) => line !== '')).toHaveLength(3);
  expect(code).toBe(0);
});

test('--cost lists tokens by server and tool, highest first, and with tool search', async () => {
  const { code, stdout } = await tools({ memory: MEMORY, odd: odd() }, '--cost');
  const figures = [...stdout.matchAll(/^(\w+) +(\d+) +([\d,]+) +[\d.]+ %$/gm)].map((it) => it.slice(1, 4));
  expect(figures.map(([name]) => name)).toEqual(['memory', 'odd', 'all']);
  const [memory, other, all] = figures.map(([, , tokens]) => Number(tokens?.replace(',', '')));
  expect(Number(memory) + Number(other)).toBe(all);
  expect(Number(memory)).toBeGreaterThan(Number(other));
  expect(stdout).toMatch(/^with tool search +\d+ +\d\.\d %$/m);
  expect(stdout).toContain('Shares refer to a context window of 200,000 tokens.\n');
  expect(code).toBe(0);
});

test('--search finds the tool for a task, or reports that there is none', async () => {
  const found = await tools(
    { memory: MEMORY, files: filesystem(tmpdir()) },
    '--search',
    'knowledge graph',
    '--limit',
    '2',
  );
  expect(found.stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(found.stdout).toMatch(/^memory +\w+ /);
  const json = await tools({ memory: MEMORY }, '--search', 'knowledge graph', '--json');
  const { matches = [] } = JSON.parse(json.stdout) as ToolsReport;
  expect(matches[0]).toMatchObject({ server: 'memory', pooledName: expect.stringMatching(/^mcp__memory__/) });
  const none = await tools({ memory: MEMORY }, '--search', 'qqqqqqqq');
  expect(none).toEqual({
    code: 0,
    stdout: '',
    stderr: 'toolplane: no matching tool found; try other search terms\n',
  });
});

test('--server starts only the named servers', async () => {
  const file = jsonFile(config({ broken: BROKEN, memory: MEMORY }));
  const { code, stdout, stderr } = await runCli(['tools', '--mcp-config', file, '-s', 'memory']);
  expect(stdout).toMatch(/^memory \(/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('--stdio defines a server by a command line', async () => {
  const { command, args } = odd();
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  const { code, stdout } = await runCli(['tools', '--stdio', line]);
  expect(stdout).toMatch(/^server \(14 tools, odd 1\)\n/);
  expect(code).toBe(0);
});

test('--url defines a server by its URL', async () => {
  await using everything = await startEverything('streamableHttp');
  const { code, stdout } = await runCli(['tools', '--url', everything.url]);
  expect(stdout).toMatch(/^server \(\d+ tools, mcp-servers\/everything [\d.]+\)\n {2}echo /);
  expect(code).toBe(0);
});

test.each([
  ['no server', ['tools'], /no servers: add one with .*, or use --mcp-config/],
  [
    'an unknown one',
    ['tools', '--mcp-config', config({ docs: BROKEN }), '-s', 'docz'],
    /unknown server "docz"; did you mean "docs"\?/,
  ],
  ['both of --stdio and --url', ['tools', '--stdio', 'x', '--url', 'http://x'], /cannot be used with/],
  ['a word', ['tools', 'acept'], /unknown action 'acept'; did you mean accept\?/],
  ['a second --stdio', ['tools', '--stdio', 'x', '--stdio', 'y'], /Given more than once/],
  ['--cost of a search', ['tools', '--stdio', 'x', '--cost', '--search', 'y'], /cannot be used with/],
  ['--cost of changes', ['tools', '--changed', '--cost'], /cannot be used with/],
  ['--limit of nothing', ['tools', '--stdio', 'x', '--limit', '2'], /--limit requires --search/],
  ['a search for nothing', ['tools', '--stdio', 'x', '--search', ' '], /Expected a description of the task/],
  ['a flag that accept has no use for', ['tools', 'accept', 'x', '--cost'], /cannot be combined with --cost/],
  [
    'changes of an unknown server',
    ['tools', '--changed', '-s', 'vry'],
    /no tools of server "vry" have been accepted yet/,
  ],
  ['too few words', ['tools', 'accept'], /usage: tools accept <server> \[tool\]/],
])('%s is exit code 2', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test.runIf(hasScript)(
  'in a real terminal a slow start is told of on one line, which is gone at the end',
  async () => {
    const terminal = new TerminalProcess(
      ['tools', '--mcp-config', config({ slow: odd({ SLOW_MS: '1500' }) })],
      {
        NO_COLOR: '1',
      },
    );
    await terminal.until('connecting 0 of 1: slow');
    const rest = await terminal.until('slow (14 tools, odd 1)');
    expect(rest.endsWith('\r\u001b[2Kslow (14 tools, odd 1)')).toBe(true);
    await terminal.until('typed');
    expect(await terminal.closed).toEqual([0, null]);
  },
);

test('reports changed tools until they are accepted', async () => {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-pins-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const run = (...args: readonly string[]) => runCli(args, '', { env: { TOOLPLANE_HOME: home } });
  const server = { ...odd(), includeTools: ['raw'] };
  const servers = ['--mcp-config', config({ odd: server })];
  // Like an agent in two sessions, between which the server changed.
  const pins = openPins(join(home, 'pins'));
  const at = { server: 'odd', place: placeOf(server, process.cwd()) ?? '' };
  const raw = { name: 'raw', description: 'Tells what it was sent', inputSchema: { type: 'object' } };
  pins.observe(at, [{ ...raw, description: 'Tells' }]);
  const call = () => run('call', 'odd', 'raw', ...servers);
  const note = 'toolplane: odd raw: the tool changed since it was accepted: ';
  expect((await run('tools', '--changed')).stderr).toBe('toolplane: no tool is pending acceptance\n');
  const told = await call();
  expect(told).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(note) });
  expect(told.stderr).toMatch(/; to accept it: toolplane tools accept odd raw\n$/);
  // Listing accepts nothing.
  const listed = await run('tools', '--changed');
  expect(listed.stdout).toMatch(/^odd raw \(1 change\)\n {2}high {2}.*what it was sent/);
  const json = await run('tools', '--changed', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ changes: [{ server: 'odd', tool: 'raw' }] });
  expect(await run('tools', 'accept', 'ood', 'raw')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'toolplane: no tool of server "ood" is pending acceptance; did you mean "odd"?\n',
  });
  expect((await run('tools', 'accept', 'odd', 'rawr')).stderr).toContain('did you mean "raw"?');
  expect(await run('tools', 'accept', 'odd', 'raw')).toMatchObject({
    code: 0,
    stdout: `accepted ${listed.stdout}`,
  });
  expect((await run('tools', '--changed')).stdout).toBe('');
  expect(await call()).toMatchObject({ code: 0, stderr: '' });
  expect((await run('tools', 'accept', 'odd')).stderr).toBe(
    'toolplane: no tool of server "odd" is pending acceptance; run "toolplane tools" to check for changes\n',
  );
});

test('reports a new tool of an accepted server; call runs it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-pins-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const server = { ...odd(), includeTools: ['raw'] };
  const at = { server: 'odd', place: placeOf(server, process.cwd()) ?? '' };
  openPins(join(home, 'pins')).observe(at, [{ name: 'old', inputSchema: { type: 'object' } }]);
  const args = ['call', 'odd', 'raw', '--mcp-config', config({ odd: server })];
  const { code, stderr } = await runCli(args, '', { env: { TOOLPLANE_HOME: home } });
  expect([code, stderr]).toEqual([
    0,
    'toolplane: odd raw: the tool was added after the other tools of its server were accepted: description: added "Tells what it was sent"; to accept it: toolplane tools accept odd raw\n',
  ]);
});

test('reports a damaged file of accepted tools with its server', async () => {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-pins-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const server = odd();
  openPins(join(home, 'pins')).observe({ server: 'odd', place: placeOf(server, process.cwd()) ?? '' }, []);
  for (const name of readdirSync(join(home, 'pins'))) writeFileSync(join(home, 'pins', name), '{');
  const args = ['call', 'odd', 'raw', '--mcp-config', config({ odd: server })];
  const { code, stderr } = await runCli(args, '', { env: { TOOLPLANE_HOME: home } });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^toolplane: the tools that server "odd" lists now are accepted without comparing them with earlier ones \(review them with `toolplane tools -s odd`\): .* cannot be used: the file is not valid JSON\n$/,
  );
});

test('SIGINT while servers connect ends the command with its exit code', async () => {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-interrupt-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const started = once(watch(home), 'change');
  const slow = odd({ SLOW_MS: '60000', HEARD: join(home, 'heard') });
  const cli = startCli(['tools', '--mcp-config', config({ slow })]);
  const printed = Promise.all([text(cli.stdout), text(cli.stderr)]);
  await started;
  cli.kill('SIGINT');
  expect(await once(cli, 'close')).toEqual([130, null]);
  expect(await printed).toEqual(['', '']);
});
