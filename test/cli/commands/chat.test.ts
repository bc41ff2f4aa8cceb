import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { configPlace } from '../../config/config-place.ts';
import { CTRL_C, CTRL_D, UP } from '../support/fake-terminal.ts';
import { jsonFile } from '../support/json-file.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../support/terminal-process.ts';
import { TWO_SERVERS, TWO_WAITING } from '../support/two-servers.ts';

const REHEARSE = ['--model', 'rehearsal', '--mcp-config', TWO_SERVERS];

/** The prompt for a message, and a permission question, at the end of the screen. */
const PROMPT = /─\n›\n[^\n]*$/;
const ASKED = /\nallow\?$/;

/** A home without accepted tools. */
function ownHome(): { TOOLPLANE_HOME: string } {
  const home = mkdtempSync(join(tmpdir(), 'toolplane-chat-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { TOOLPLANE_HOME: home };
}

test.runIf(hasScript)(
  'in a real terminal: connect and search, connect and deploy, then what tools there are',
  async () => {
    const place = configPlace();
    const chat = new TerminalProcess(REHEARSE, place.env, undefined, place.project);
    await chat.shows(PROMPT);
    chat.type('Connect to the docs MCP server, then search for tool pools\r');
    expect(await chat.shows(ASKED)).toContain('connect_mcp');
    chat.type('y\r');
    expect(await chat.shows(ASKED)).toContain('mcp__docs__search');
    chat.type('y\r');
    await chat.until('The tool said: 1 page about tool pools');
    await chat.shows(PROMPT);
    chat.type('Connect to the deploy server, then call trigger with {"service":"api"}\r');
    await chat.shows(ASKED);
    chat.type('y\r');
    const question = await chat.shows(ASKED);
    expect(question).toContain('mcp__deploy__trigger');
    expect(question).toContain('"service": "api"');
    expect(question).toContain('annotations: destructive');
    chat.type('n not today\r');
    await chat.until('denied');
    await chat.shows(PROMPT);
    chat.type('call trigger with {"service":"api"}\r');
    await chat.shows(ASKED);
    chat.type('a\r');
    await chat.until('api is live');
    const noted = readFileSync(join(place.project, '.toolplane/settings.local.json'), 'utf8');
    expect(JSON.parse(noted)).toEqual({ version: 1, permissions: { allow: ['mcp__deploy__trigger'] } });
    await chat.shows(PROMPT);
    chat.type(`${UP}\r`);
    await chat.until('Done.');
    await chat.shows(PROMPT);
    chat.type('What tools are now available?\r');
    await chat.until('I was given');
    const tools = await chat.shows(/I was given[\s\S]*─\n›\n[^\n]*$/);
    expect(tools).toContain('• mcp__docs__search');
    expect(tools).toContain('• mcp__deploy__trigger');
    chat.type('/mcp\r');
    await chat.until('connected');
    await chat.until('connected');
    await chat.shows(PROMPT);
    chat.type(CTRL_D);
    expect(await chat.closed).toEqual([0, null]);
  },
);

test.runIf(hasScript)(
  'in a real terminal: what the project brings is asked about before it counts',
  async () => {
    const place = configPlace();
    const entry = JSON.parse(TWO_SERVERS).mcpServers.docs;
    place.write(join(place.project, '.mcp.json'), {
      mcpServers: { docs: entry, other: { command: 'no-such-thing' } },
    });
    const first = new TerminalProcess(['--model', 'rehearsal'], place.env, undefined, place.project);
    expect(await first.shows(/\napprove\?$/)).toContain('docs.ts');
    first.type('y\r');
    expect(await first.shows(/\napprove\?$/)).toContain('no-such-thing');
    first.type('n\r');
    await first.shows(PROMPT);
    first.type('/mcp\r');
    await first.until('docs');
    await first.until('you rejected');
    await first.shows(PROMPT);
    first.type(CTRL_D);
    expect(await first.closed).toEqual([0, null]);
    const again = new TerminalProcess(['--model', 'rehearsal'], place.env, undefined, place.project);
    expect(await again.shows(PROMPT)).not.toContain('no-such-thing');
  },
);

const ASKING = JSON.stringify({
  mcpServers: {
    asking: {
      command: process.execPath,
      // The chat shows one form, and one line about the thousandth refused request.
      args: [fileURLToPath(new URL('../../support/fixtures/asking-server.mjs', import.meta.url)), '1001'],
    },
  },
});

test.runIf(hasScript)(
  'in a real terminal: 1,001 forms without a running call do not take over the chat',
  async () => {
    const place = configPlace();
    const env = { ...place.env, NO_COLOR: '1' };
    const args = ['--model', 'rehearsal', '--mcp-config', ASKING, '--allowedTools', 'mcp__asking'];
    const chat = new TerminalProcess(args, env, undefined, place.project);
    await chat.until('Server asking requests input: Form 0');
    await chat.until('1000 refused');
    chat.type('/mcp\r');
    await chat.until('connected');
    await chat.until('name (');
    chat.type(CTRL_C);
    await chat.shows(PROMPT);
    chat.type('call counts\r');
    expect(await chat.until('Done. The tool said: ')).not.toContain('Form 1');
    expect(await chat.until('}')).toBe('{"cancel":1001}');
    await chat.shows(PROMPT);
    chat.type('/quit\r');
    expect(await chat.closed).toEqual([0, null]);
    expect(chat.printed.match(/too many elicitation requests/g)?.length).toBeLessThan(6);
    // Of thousands of log messages, ten per second are shown.
    expect(chat.printed.match(/line \d/g)?.length).toBeLessThan(100);
  },
);

test.runIf(hasScript)(
  'in a real terminal: what is typed during a turn is shown and queued; several lines come back whole',
  async () => {
    const args = [...REHEARSE, '--allowedTools', 'mcp__deploy'];
    const chat = new TerminalProcess(args, { NO_COLOR: '1' });
    await chat.shows(PROMPT);
    chat.type('call wait\r');
    await chat.until('● mcp__deploy__wait');
    chat.type('list tools');
    await chat.shows('» list tools');
    chat.type('\r');
    await chat.shows('queued: list tools');
    chat.type(CTRL_C);
    await chat.until('Queued messages not sent: 1');
    await chat.shows(/─\n› list tools\n[^\n]*$/);
    chat.type(CTRL_C);
    await chat.shows(PROMPT);
    chat.type('one\\\r');
    await chat.shows(/─\n› one\n\n[^\n]*$/);
    chat.type('two\r');
    await chat.until('I am the rehearsal model');
    await chat.shows(PROMPT);
    chat.type(UP);
    await chat.shows(/─\n› one\n {2}two\n[^\n]*$/);
    chat.type(CTRL_C);
    await chat.shows(PROMPT);
    chat.type(CTRL_D);
    expect(await chat.closed).toEqual([0, null]);
  },
);

test.runIf(hasScript)('in a real terminal: /quit typed into a form leaves', async () => {
  const place = configPlace();
  const chat = new TerminalProcess(
    ['--model', 'rehearsal', '--mcp-config', ASKING],
    place.env,
    undefined,
    place.project,
  );
  await chat.until('name (');
  chat.type('/quit\r');
  expect(await chat.closed).toEqual([0, null]);
});

test('without a terminal declines elicitation and reports it in one line', async () => {
  const args = [
    'run',
    '--model',
    'rehearsal',
    '--mcp-config',
    ASKING,
    '--allowedTools',
    'mcp__asking',
    'call counts',
  ];
  const { code, stdout, stderr } = await runCli(args, '', { env: ownHome() });
  expect({ code, stdout: stdout.startsWith('Done. The tool said: {') }).toEqual({ code: 0, stdout: true });
  expect(stderr.split('\n').length).toBeLessThan(10);
});

const BOTH = 'Connect both servers — what tools are now available?';

test.runIf(hasScript)(
  'in a real terminal: both servers are connected at once, and asked again there is nothing left but to list the tools',
  async () => {
    const chat = new TerminalProcess(['--model', 'rehearsal', '--mcp-config', TWO_WAITING]);
    await chat.shows(PROMPT);
    chat.type('/mcp\r');
    await chat.until('idle (the model connects it with connect_mcp)');
    await chat.until('idle (the model connects it with connect_mcp)');
    await chat.shows(PROMPT);
    chat.type(`${BOTH}\r`);
    const question = await chat.shows(ASKED);
    expect(question.match(/● connect_mcp/g)).toHaveLength(2);
    chat.type('y\r');
    await chat.shows(ASKED);
    chat.type('y\r');
    const marked = /• mcp__deploy__trigger \(destructive\)[\s\S]*• mcp__docs__search \(readOnly\)/;
    await chat.until('I was given');
    await chat.shows(marked);
    chat.type(`${BOTH}\r`);
    await chat.until('I was given');
    await chat.shows(marked);
    chat.type(CTRL_D);
    expect(await chat.closed).toEqual([0, null]);
  },
);

test('the same through a pipe with servers that connect at start', async () => {
  const { code, stdout } = await runCli(REHEARSE, `${BOTH}\n`, { env: ownHome() });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^I was given \d+ tools:\n/);
  expect(stdout).toContain('\n- mcp__deploy__trigger (destructive)\n');
  expect(stdout).toContain('\n- mcp__docs__search (readOnly)\n');
});

test.runIf(hasScript)(
  'in a real terminal: Ctrl-C ends the turn, then leaves; NO_COLOR is kept to',
  async () => {
    const chat = new TerminalProcess([...REHEARSE, '--allowedTools', 'mcp__deploy'], { NO_COLOR: '1' });
    await chat.shows(PROMPT);
    chat.type('call wait\r');
    await chat.until('● mcp__deploy__wait');
    chat.type(CTRL_C);
    await chat.until('interrupting, Ctrl-C exits');
    await chat.until('✗ ');
    const rest = await chat.shows(PROMPT);
    expect(rest).not.toMatch(/\p{Cc}\[\d+m/u);
    chat.type(CTRL_C);
    await chat.until('To leave, press Ctrl-C again or Ctrl-D, or type /quit.');
    await chat.shows(PROMPT);
    chat.type(CTRL_C);
    expect(await chat.closed).toEqual([0, null]);
  },
);

test.runIf(hasScript)(
  'in a real terminal: without a model the rehearsal is offered, not assumed',
  async () => {
    const refused = new TerminalProcess([]);
    await refused.until('none of ANTHROPIC_API_KEY');
    await refused.until('use the rehearsal model? ');
    refused.type('n\r');
    expect(await refused.closed).toEqual([1, null]);
    const taken = new TerminalProcess([]);
    await taken.until('use the rehearsal model? ');
    taken.type('y\r');
    await taken.until('model rehearsal');
    taken.type(CTRL_D);
    expect(await taken.closed).toEqual([0, null]);
  },
);

test.each([[['chat']], [[]]])(
  'toolplane %j without a model and a terminal names the missing settings: exit code 1',
  async (args) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^toolplane: No model is available: none of ANTHROPIC_API_KEY, .*--model rehearsal/,
    );
  },
);

test('answers lines from a pipe in order, without escape sequences', async () => {
  const input = 'what tools are there?\ncall trigger with {"service":"api"}\n/explain last\n';
  const { code, stdout, stderr } = await runCli(REHEARSE, input);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      "toolplane: mcp__deploy__trigger was denied because this run is non-interactive; allow it with --allowedTools 'mcp__deploy__trigger'\n",
  });
  expect(stdout).toMatch(
    /mcp__deploy__trigger[\s\S]*⊘ denied mcp__deploy__trigger[\s\S]*\nmcp__deploy__trigger: denied\n/,
  );
  expect(stdout).not.toContain('\u001b');
});

test('SIGTERM ends the chat', async () => {
  const child = startCli(REHEARSE);
  child.stdin.write('what tools are there?\n');
  const closed = once(child, 'close');
  // A process that ended too early has another exit code.
  await Promise.race([once(child.stdout, 'data'), closed]);
  child.kill('SIGTERM');
  expect(await closed).toEqual([143, null]);
});

test('an agent that cannot start is reported in one line with exit code 1', async () => {
  const { code, stderr } = await runCli(['--agent-executable', './no-such-agent']);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'toolplane: options.pathToClaudeCodeExecutable: ./no-such-agent does not exist\n',
  });
});

test.runIf(hasScript).each([
  ['at its prompt', undefined],
  ['in a turn', 'call wait'],
])('a terminal that closes %s ends the chat like SIGHUP, with SessionEnd hooks', async (_, prompt) => {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-chat-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const code = join(directory, 'code');
  const ended = join(directory, 'ended');
  const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command: `touch '${ended}'` }] }] };
  const args = [...REHEARSE, '--allowedTools', 'mcp__deploy', '--settings', JSON.stringify({ hooks })];
  const chat = new TerminalProcess(args, {}, code);
  await chat.shows(PROMPT);
  if (prompt !== undefined) {
    chat.type(`${prompt}\r`);
    await chat.until('● ');
  }
  chat.hangUp();
  await expect.poll(() => existsSync(code) && readFileSync(code, 'utf8'), { timeout: 15_000 }).toBe('129\n');
  expect(existsSync(ended)).toBe(true);
});

test.runIf(hasScript)('a terminal that goes away at the first question ends it too', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-chat-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const code = join(directory, 'code');
  const chat = new TerminalProcess([], {}, code);
  await chat.until('use the rehearsal model? ');
  chat.hangUp();
  await expect.poll(() => existsSync(code) && readFileSync(code, 'utf8'), { timeout: 15_000 }).toBe('129\n');
});

test('a failed turn from a pipe is exit code 1', async () => {
  const { code, stdout } = await runCli(['--model', `scripted:${jsonFile('["Hello."]')}`], 'one\ntwo\n');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Hello\.\n.*has no reply for request 2; add one to the file\n$/);
});

const BROKEN = JSON.stringify({ mcpServers: { lost: { command: 'no-such-server' } } });

test('reports a failed server once, with its error', async () => {
  const { stdout } = await runCli(['--model', 'rehearsal', '--mcp-config', BROKEN], 'hello\nhello\n');
  expect(
    stdout.match(
      /^server lost: failed: command not found: no-such-server; install it or set an absolute path in "command"$/gm,
    ),
  ).toHaveLength(1);
});

test.each([
  [
    'a rule',
    ['--disallowedTools', 'Bash(rm *'],
    "error: --disallowedTools 'Bash(rm *' is not a valid permission rule; use Tool or Tool(pattern)",
  ],
  ['a file', ['--mcp-config', './nope'], 'error: --mcp-config ./nope: no such file; check the path'],
])('invalid %s is reported with its flag: exit code 2', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(['--model', 'rehearsal', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});
