import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServerWatch } from '../../../src/cli/chat/conversation.ts';
import { placeOf } from '../../../src/pool/pinning/pin-watch.ts';
import { openPins } from '../../../src/pool/pinning/pins.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import type { McpServerStatus } from '../../../src/sdk/control-responses.ts';
import { lifeline } from '../../support/lifeline.ts';
import { error, text as say } from '../../support/model-api/model-reply.ts';
import { openAgentSandbox } from '../support/agent-sandbox.ts';
import { config, odd } from '../support/real-servers.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../support/terminal-process.ts';
import { TWO_SERVERS } from '../support/two-servers.ts';

describe('run', () => {
  const REHEARSE = ['run', '--model', 'rehearsal'];
  const WITH_SERVERS = [...REHEARSE, '--mcp-config', TWO_SERVERS];

  /** A scripted model with these replies. */
  async function scripted(...replies: unknown[]): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'toolplane-run-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const file = join(directory, 'replies.json');
    await writeFile(file, JSON.stringify(replies));
    return `scripted:${file}`;
  }

  test('prints only the last text', async () => {
    const { code, stdout, stderr } = await runCli(['run', '--model', await scripted('Hello.'), 'hi']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Hello.\n', stderr: '' });
  });

  test.each([
    ['stdin', [], 'list tools'],
    ['- for stdin', ['-'], 'list tools'],
    ['words', ['list', 'tools'], 'not read'],
  ])('the prompt is %s', async (_, words, input) => {
    const { code, stdout } = await runCli([...WITH_SERVERS, ...words], input);
    expect(code).toBe(0);
    expect(stdout).toContain('mcp__docs__search');
  });

  test('words precede the input that - inserts', async () => {
    const search = (query: string) => `call search with {"query":"${query}"}`;
    const args = [...WITH_SERVERS, '--allowedTools', 'mcp__docs', search('one'), '-'];
    const { stdout } = await runCli(args, search('two'));
    expect(stdout).toMatch(/page about one[\s\S]*page about two/);
  });

  test('--json-schema prints the structured output', async () => {
    const schema = '{"type":"object","properties":{"count":{"type":"integer"}}}';
    const model = await scripted({ tool: 'StructuredOutput', input: { count: 3 } });
    const run = (...args: string[]) => runCli(['run', '--model', model, '--json-schema', ...args, 'hi']);
    expect(await run(schema)).toMatchObject({ code: 0, stdout: '{"count":3}\n' });
    const json = await run(schema, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ structured_output: { count: 3 } });
    expect(await run('{"type":"none"}')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--json-schema is not a valid JSON Schema: data/type must be'),
    });
    expect(await run('{')).toMatchObject({ code: 2 });
    expect(await run('none.json')).toMatchObject({ code: 2 });
  });

  test('--json prints the result as one object', async () => {
    const { code, stdout } = await runCli(['run', '--json', '--model', await scripted('Hello.'), 'hi']);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'result', subtype: 'success', result: 'Hello.' });
  });

  test('--debug output has no control characters', async () => {
    const odd = 'Hi\u009b2J\u202e\u2066\u200f\u061c\u200b\u2028!';
    const { code, stderr } = await runCli([
      'run',
      '--debug',
      '--model',
      await scripted(odd),
      'hi\u009b\u202e',
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain('Hi\\u009b2J\\u202e\\u2066\\u200f\\u061c\\u200b\\u2028!');
    expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test('stream-json prints one message per line; partial messages only on demand', async () => {
    const args = [
      'run',
      '--output-format',
      'stream-json',
      '--model',
      await scripted('Hello.', 'Hello.'),
      'hi',
    ];
    const kinds = async (more: string[]) => {
      const { stdout } = await runCli([...args, ...more]);
      const messages = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string });
      return [...new Set(messages.map(({ type }) => type))];
    };
    expect(await kinds([])).toEqual(['system', 'assistant', 'result']);
    expect(await kinds(['--include-partial-messages'])).toEqual([
      'system',
      'stream_event',
      'assistant',
      'result',
    ]);
  });

  test('a call that requires approval is denied with the rule that allows it, and runs with that rule', async () => {
    const prompt = 'call trigger with {"service":"api"}';
    const denied = await runCli([...WITH_SERVERS, prompt]);
    expect(denied.stderr).toBe(
      "toolplane: mcp__deploy__trigger was denied because this run is non-interactive; allow it with --allowedTools 'mcp__deploy__trigger'\n",
    );
    expect(denied.stdout).not.toContain('api is live');
    const allowed = await runCli([...WITH_SERVERS, '--allowedTools', 'mcp__deploy__trigger', prompt]);
    expect({ ...allowed, stdout: allowed.stdout.trim() }).toEqual({
      code: 0,
      stdout: 'Done. The tool said: api is live',
      stderr: '',
    });
  });

  test('a changed tool is denied with its change despite rules, and runs after acceptance', async () => {
    const home = await mkdtemp(join(tmpdir(), 'toolplane-run-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const place = { cwd: home, env: { TOOLPLANE_HOME: home } };
    const { command, args } = odd();
    const pins = openPins(join(home, 'pins'));
    const at = { server: 'odd', place: placeOf({ command, args }, home) ?? '' };
    pins.observe(at, [{ name: 'raw', description: 'Tells', inputSchema: { type: 'object' } }]);
    const servers = ['--mcp-config', config({ odd: odd() })];
    const run = () =>
      runCli(
        [...REHEARSE, ...servers, '--allowedTools', 'mcp__odd', '--json', 'call raw with {}'],
        '',
        place,
      );
    const remedy = 'to accept it: toolplane tools accept odd raw';
    const denied = await run();
    expect(denied.stderr).toMatch(
      new RegExp(
        `toolplane: mcp__odd__raw was denied because this run is non-interactive: .*added "what it was sent"; ${remedy}\n`,
      ),
    );
    expect(denied.stderr).not.toContain('--allowedTools');
    expect(JSON.parse(denied.stdout)).toMatchObject({ result: expect.stringContaining(remedy) });
    expect((await runCli(['tools', 'accept', 'odd', 'raw'], '', place)).code).toBe(0);
    expect(JSON.parse((await run()).stdout)).toMatchObject({
      result: expect.stringContaining('"name":"raw"'),
    });
  });

  test('reports on stderr that the session or accepted tools cannot be stored', async () => {
    const home = join(await mkdtemp(join(tmpdir(), 'toolplane-run-')), 'file');
    onTestFinished(() => rm(dirname(home), { recursive: true }));
    await writeFile(home, '');
    const args = ['run', '--model', await scripted('Hello.'), '--mcp-config', config({ odd: odd() }), 'hi'];
    const { code, stdout, stderr } = await runCli(args, '', { env: { TOOLPLANE_HOME: home } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello.\n' });
    expect(stderr).toMatch(/^toolplane: The session is not saved and cannot be resumed: /m);
    expect(stderr).toMatch(
      /^toolplane: the tools that server "odd" lists now are accepted without comparing them/m,
    );
  });

  test('--verbose reports tool calls and outcomes on stderr', async () => {
    const { stderr } = await runCli([...WITH_SERVERS, '--verbose', 'call trigger with {"service":"api"}']);
    expect(stderr).toMatch(
      /^● mcp__deploy__trigger service: api\n {2}⊘ denied mcp__deploy__trigger \d\.\d s /m,
    );
  });

  test('a failed turn is exit code 1, with the reason on stderr or in the JSON', async () => {
    const args = ['run', '--model', await scripted(), 'hi'];
    const plain = await runCli(args);
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 1, stdout: '' });
    expect(plain.stderr).toMatch(/^toolplane: .*has no reply for request 1; add one to the file\n$/);
    const json = await runCli([...args, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ type: 'result', is_error: true });
  });

  test('--max-turns limits the number of model requests', async () => {
    const call = { tool: 'mcp__docs__search', input: { query: 'x' } };
    const args = ['run', '--mcp-config', TWO_SERVERS, '--allowedTools', 'mcp__docs', '--max-turns', '1'];
    const { code, stderr } = await runCli([...args, '--model', await scripted(call, call, 'done'), 'go']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/maximum number of turns \(1\)/);
  });

  test('escape sequences of a model are not printed to stderr', async () => {
    const call = { tool: 'mcp__docs__\u001b[2J', input: {} };
    const { stderr } = await runCli(['run', '--verbose', '--model', await scripted(call, 'done'), 'go']);
    expect(stderr).toContain('● mcp__docs__␛[2J');
    expect(stderr).not.toContain('\u001b');
  });

  test.runIf(hasScript)('nor through stdout, which a pipe is given as it is', async () => {
    const args = ['run', '--model', await scripted('\u001b]0;evil\u0007\u202e\u009b2J', 'no')];
    const terminal = new TerminalProcess([...args, 'go']);
    await terminal.until('␛]0;evil␇<U+202E><U+009B>2J\r\n');
    expect(await terminal.closed).toEqual([0, null]);
    const { stdout } = await runCli([...args, 'go']);
    expect(stdout).toBe('\u001b]0;evil\u0007\u202e\u009b2J\n');
  });

  test('reports a failed server on stderr with its error', async () => {
    const servers = JSON.stringify({ mcpServers: { lost: { command: 'no-such-server' } } });
    const { code, stderr } = await runCli([...REHEARSE, '--mcp-config', servers, 'list tools']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'toolplane: server lost: failed: command not found: no-such-server; install it or set an absolute path in "command"\n',
    });
  });

  test('reports a server that is not ready, but not an idle on-demand server', async () => {
    const hang = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    const servers = JSON.stringify({ mcpServers: { slow: hang, later: { ...hang, start: 'on-demand' } } });
    const { code, stderr } = await runCli([...REHEARSE, '--mcp-config', servers, 'list tools']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'toolplane: server slow did not connect before the turn ended, so the model could not use its tools\n',
    });
  });

  test('reports retries of model requests on stderr', async () => {
    await using sandbox = await openAgentSandbox([error(529, 'busy', 'overloaded_error'), say('Hello.')]);
    const { code, stdout, stderr } = await runCli(['run', '--model', 'm', 'hi'], '', sandbox);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello.\n' });
    expect(stderr).toMatch(
      /^toolplane: http:\/\/127\.0\.0\.1:\d+ returned 529 overloaded; retry 1 of 10 in \d\.\d s\n$/,
    );
  });

  test('a local model endpoint that refuses connections fails the run immediately', async () => {
    // Nothing listens on a privileged port without a service.
    const place = { env: { OPENAI_BASE_URL: 'http://user:hunter2@127.0.0.1:3/v1' } };
    const plain = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:3/v1' } };
    const { code, stdout, stderr } = await runCli(['run', '--model', 'openai:m', 'hi'], '', plain);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Cannot reach http://127.0.0.1:3/v1 (ECONNREFUSED): ');
    expect(stderr).not.toContain('retry 1');
    const withPassword = await runCli(['run', '--model', 'openai:m', 'hi'], '', place);
    expect(withPassword.stderr).toContain('Cannot reach http://127.0.0.1:3/v1 (');
    expect(withPassword.stderr).not.toMatch(/hunter2|retry 1/);
  });

  test('names the fallback model when it is used', async () => {
    const place = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:3/v1' } };
    const words = [
      'run',
      '--model',
      'openai:m',
      '--fallback-model',
      'rehearsal',
      '--tools',
      'Read',
      'list tools',
    ];
    const { code, stderr } = await runCli(words, '', place);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'toolplane: Cannot reach http://127.0.0.1:3/v1 (ECONNREFUSED); using the fallback model rehearsal\n',
    });
  });

  test.each([
    ['--max-retries', ['--max-retries', '1'], {}],
    ['CLAUDE_CODE_MAX_RETRIES', [], { CLAUDE_CODE_MAX_RETRIES: '1' }],
  ])('%s sets the number of retries', async (_, flags, env) => {
    await using sandbox = await openAgentSandbox(() => error(529, 'busy', 'overloaded_error'));
    const place = { cwd: sandbox.cwd, env: { ...sandbox.env, ...env } };
    const { code, stderr } = await runCli(['run', '--model', 'm', ...flags, 'hi'], '', place);
    expect(code).toBe(1);
    expect(stderr.match(/returned 529 overloaded; retry 1 of 1 in/g)).toHaveLength(1);
    expect(sandbox.api.requests).toHaveLength(2);
  });

  test('commands started by tests store sessions in the home of the tests', async () => {
    const { stdout } = await runCli(['run', '--json', '--model', await scripted('Hello.'), 'hi']);
    const { session_id } = JSON.parse(stdout) as { session_id: string };
    const files = globSync(`projects/*/${session_id}.jsonl`, { cwd: process.env.TOOLPLANE_HOME });
    expect(files).toHaveLength(1);
  });

  test('without a model, names the settings that were checked', async () => {
    const { code, stdout, stderr } = await runCli(['run', 'hi']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^toolplane: No model is available: none of ANTHROPIC_API_KEY, .*--model rehearsal/,
    );
  });

  test.each([
    ['no prompt', ['run'], /no prompt given/],
    ['an empty prompt', ['run', '  '], /no prompt given/],
    [
      'an unknown format',
      ['run', 'hi', '--output-format', 'xml'],
      /Allowed choices are text, json, stream-json/,
    ],
    ['an unknown mode', ['run', 'hi', '--permission-mode', 'yolo'], /Allowed choices are default/],
    ['an unknown word', ['run', 'hi', '--tool-search', 'bogus'], /Expected on, off, auto/],
    ['no number', ['run', 'hi', '--max-turns', 'many'], /Expected an integer, 1 or more/],
    [
      'no rule',
      ['run', 'hi', '--disallowedTools', 'Bash(rm *'],
      /--disallowedTools 'Bash\(rm \*' is not a valid permission rule/,
    ],
    ['no file', ['run', 'hi', '--mcp-config', './nope'], /--mcp-config \.\/nope: no such file/],
    ['an unknown flag', ['run', 'hi', '--modle', 'x'], /Did you mean --model\?/],
  ])('%s is a usage error: exit code 2', async (_, args, message) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('SIGINT ends the turn with exit code 130', async () => {
    const child = startCli([...WITH_SERVERS, '--verbose', '--allowedTools', 'mcp__deploy', 'call wait']);
    child.stdin.end();
    const closed = once(child, 'close');
    const output = text(child.stdout);
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      told += chunk;
    });
    while (!told.includes('● mcp__deploy__wait') && child.exitCode === null) {
      await Promise.race([once(child.stderr, 'data'), closed]);
    }
    child.kill('SIGINT');
    expect(await closed).toEqual([130, null]);
    expect(await output).toBe('');
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with exit code %i, and the command that runs', async (signal, code) => {
    const { hold, started, ended } = lifeline();
    const model = await scripted({ tool: 'Bash', input: { command: `${hold} sleep 600` } }, 'done');
    const child = startCli(['run', '--allowedTools', 'Bash', '--model', model, 'go']);
    child.stdin.end();
    const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    await started;
    child.kill(signal);
    expect(await output).toEqual(['', '', [code, null]]);
    await ended;
  });

  test('a closed stdout is not reported', async () => {
    const child = startCli([
      'run',
      '--output-format',
      'stream-json',
      '--model',
      await scripted('Hello.'),
      'hi',
    ]);
    child.stdin.end();
    child.stdout.destroy();
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(stderr).toBe('');
  });

  test('a closed stderr is not reported', async () => {
    const child = startCli([...WITH_SERVERS, '--verbose', 'call trigger with {"service":"api"}']);
    child.stdin.end();
    child.stderr.destroy();
    const [stdout, closed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(closed).toEqual([0, null]);
    expect(stdout).toContain('Done.');
  });

  test('--verbose prints the session id for --resume, unless the session is not stored', async () => {
    const home = await mkdtemp(join(tmpdir(), 'toolplane-run-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const place = { cwd: home, env: { HOME: home } };
    const run = (...more: string[]) => runCli([...REHEARSE, '--verbose', ...more, 'list tools'], '', place);
    const first = await run();
    const [, id = ''] = /^session ([\w-]{36}): resume it with --resume \1\n$/m.exec(first.stderr) ?? [];
    expect(first.stderr.endsWith(`resume it with --resume ${id}\n`)).toBe(true);
    const second = await run('--resume', id);
    expect({ code: second.code, stderr: second.stderr }).toEqual({ code: 0, stderr: first.stderr });
    const unkept = await run('--no-session-persistence');
    expect({ code: unkept.code, stderr: unkept.stderr }).toEqual({ code: 0, stderr: '' });
    expect((await run('--continue', '--json')).stdout).toContain(id);
  });

  test('the model can delegate to the agents of --agents', async () => {
    const agents = JSON.stringify({ scout: { description: 'Looks around', prompt: 'Look.' } });
    const args = ['run', '--agents', agents, '--output-format', 'stream-json', '--model'];
    const { stdout } = await runCli([...args, await scripted('Hello.'), '--lead-only', 'hi']);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      subtype: 'init',
      agents: expect.arrayContaining(['scout']),
    });
  });

  test.each([
    [
      'a comment hides no second command',
      "git log # '\ntouch PWNED\n# '",
      ['--allowedTools', 'Bash(git log *)'],
      true,
    ],
    ['a part that no rule allows', 'git log; touch PWNED', ['--allowedTools', 'Bash(git log *)'], true],
    ['an assignment with blanks', 'A="a b" touch PWNED', bypassing('Bash(touch *)'), true],
    ['git with global options', 'git -C . push', bypassing('Bash(git push *)'), true],
    ['a rule that cannot be checked', 'x=touch; $x PWNED', bypassing('Bash(touch *)'), true],
    ['a command as allowed', 'echo hi # "', ['--allowedTools', 'Bash(echo *)'], false],
    [
      'commands that are each allowed',
      'echo hi | cat 2>&1',
      ['--allowedTools', 'Bash(echo *),Bash(cat)'],
      false,
    ],
  ])('rules for Bash commands apply: %s', async (_, command, flags, isDenied) => {
    const cwd = await mkdtemp(join(tmpdir(), 'toolplane-run-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const model = await scripted({ tool: 'Bash', input: { command } }, 'done');
    const args = ['run', '--json', '--model', model, ...flags, '--', 'go'];
    const { stdout } = await runCli(args, '', { cwd });
    expect(JSON.parse(stdout).permission_denials).toHaveLength(isDenied ? 1 : 0);
    expect(globSync('*', { cwd })).toEqual([]);
  });

  test('a call that no rule can allow is denied with the ask rule as the reason', async () => {
    const command = 'x=touch; $x PWNED';
    const model = await scripted({ tool: 'Bash', input: { command } }, 'done');
    const { stderr } = await runCli(['run', '--model', model, ...bypassing('Bash(touch *)'), '--', 'go']);
    expect(stderr).toContain('deny rule "Bash(touch *)" of cliArg cannot be checked against this command');
    expect(stderr).not.toContain('--allowedTools');
  });

  function bypassing(denied: string): string[] {
    const mode = ['--permission-mode', 'bypassPermissions', '--allow-dangerously-skip-permissions'];
    return [...mode, '--disallowedTools', denied];
  }

  const TRIGGER = 'call mcp__deploy__trigger with {"service":"web"}';

  test.each([
    ['approval is required', [], TRIGGER, ['mcp__deploy__trigger']],
    ['a mode denies', ['--permission-mode', 'dontAsk'], TRIGGER, ['mcp__deploy__trigger']],
    [
      'a rule denies these arguments',
      ['--disallowedTools', 'Bash(rm *)', '--allowedTools', 'Bash'],
      'call Bash with {"command":"rm none"} then call Bash with {"command":"rm nothing"}',
      ['Bash', 'Bash'],
    ],
  ])(
    '--fail-on-denied exits with 3 if %s, and the result lists the calls',
    async (_, flags, prompt, tools) => {
      const { code, stdout, stderr } = await runCli([
        ...WITH_SERVERS,
        ...flags,
        '--json',
        '--fail-on-denied',
        prompt,
      ]);
      const { permission_denials } = JSON.parse(stdout) as { permission_denials: { tool_name: string }[] };
      expect({ code, denied: permission_denials.map(({ tool_name }) => tool_name) }).toEqual({
        code: 3,
        denied: tools,
      });
      const named =
        tools.length === 1
          ? `1 tool call was denied: ${tools[0]}; allow it with --allowed-tools or permissions.allow, or omit --fail-on-denied`
          : '2 tool calls were denied: Bash (2 times); allow them with --allowed-tools or permissions.allow, or omit --fail-on-denied';
      expect(stderr).toContain(`toolplane: ${named}`);
    },
  );

  test.each([
    ['without the flag', [TRIGGER]],
    ['if nothing was denied', ['--fail-on-denied', '--allowedTools', 'mcp__deploy', TRIGGER]],
  ])('a run %s exits with 0', async (_, words) => {
    expect((await runCli([...WITH_SERVERS, ...words])).code).toBe(0);
  });
});

describe('server watch', () => {
  const init = (...mcp_servers: McpServerStatus[]) => initWith([], ...mcp_servers);
  const initWith = (tools: readonly string[], ...mcp_servers: McpServerStatus[]) =>
    ({ type: 'system', subtype: 'init', tools, mcp_servers }) as unknown as SDKMessage;

  /** A watch on an agent that returns these statuses in turn. */
  function watch(...accounts: (McpServerStatus[] | Error)[]) {
    const told: string[] = [];
    const client = {
      async mcpServerStatus() {
        const next = accounts.shift();
        if (next === undefined || next instanceof Error) throw next ?? new Error('asked too often');
        return next;
      },
    };
    return { told, servers: new ServerWatch(client, (line) => told.push(line)) };
  }

  const failed = (error?: string): McpServerStatus => ({
    name: 'a',
    status: 'failed',
    ...(error && { error }),
  });

  test('reports servers that failed before the turn with their error', async () => {
    const { told, servers } = watch([failed('it left')]);
    servers.received(init(failed()));
    await servers.settled();
    expect(told).toEqual(['server a: failed: it left']);
  });

  test('checks pending servers again at the end and reports each failure once', async () => {
    const late = (status: 'pending' | 'failed'): McpServerStatus => ({ name: 'b', status });
    const { told, servers } = watch(
      [failed('it left'), late('pending')],
      [failed('it left'), late('failed')],
    );
    servers.received(init(failed(), late('pending')));
    await servers.settled();
    expect(told).toEqual(['server a: failed: it left', 'server b: failed']);
  });

  test('without details, reports the servers of the init message', async () => {
    const { told, servers } = watch(new Error('not supported'));
    servers.received(init(failed()));
    await servers.settled();
    expect(told).toEqual(['server a: failed']);
  });

  test('does not request the status if all servers are connected', async () => {
    const { told, servers } = watch();
    servers.received(init({ name: 'a', status: 'connected' }));
    await servers.settled();
    expect(told).toEqual([]);
  });

  test('reports a server that is still pending at the end, unless its cached tools were offered', async () => {
    const pending = (name: string): McpServerStatus => ({ name, status: 'pending' });
    const all = [pending('slow'), pending('past.one')];
    const { told, servers } = watch(all);
    servers.received(initWith(['Bash', 'mcp__past_one__search'], ...all));
    await servers.settled();
    expect(told).toEqual([
      'server slow did not connect before the turn ended, so the model could not use its tools',
    ]);
  });
});
