import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { parseRule, type Rule } from '../../../src/permissions/rule.ts';
import type { SDKUserMessage } from '../../../src/protocol/agent-message.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { script } from '../../mcp/support/servers.ts';
import { collect } from '../../support/collect.ts';
import { allow, calc, drive, kinds, raw, results } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';
import { lifeline } from '../../support/lifeline.ts';
import { temporaryRoot } from '../transcript/sessions.ts';

describe('agent session', () => {
  test('a tool of the program is sent to the model, called, and its result is in the next request (R3)', async () => {
    const { query, model, session } = drive(
      [toolUse('mcp__calc__add', { a: 2, b: 40 }, 't1'), text('It is 42.')],
      { mcpServers: { calc: calc() } },
      { rules: allow('mcp__calc') },
    );
    const messages = await collect(query);
    await session().done;
    expect(kinds(messages)).toEqual(['system init', 'assistant', 'user', 'assistant', 'result success']);
    expect(messages.at(-1)).toMatchObject({ result: 'It is 42.', num_turns: 2, is_error: false });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['mcp__calc__add', 'mcp__calc__boom']);
    expect(model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '42' }] }],
    });
  });

  test('a failed call and an unknown tool are error results (C34)', async () => {
    const { query, model } = drive(
      [together(toolUse('mcp__calc__boom', {}, '1'), toolUse('mcp__none__x', {}, '2')), text('ok')],
      { mcpServers: { calc: calc() } },
      { rules: allow('mcp__calc') },
    );
    await collect(query);
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1', content: 'kaboom', is_error: true },
      {
        type: 'tool_result',
        tool_use_id: '2',
        content: '<tool_use_error>Error: No such tool available: mcp__none__x</tool_use_error>',
        is_error: true,
      },
    ]);
  });

  test.each([
    ['allows', async () => ({ behavior: 'allow' as const }), [{ type: 'text', text: '3' }], undefined],
    [
      'changes the input of',
      async () => ({ behavior: 'allow' as const, updatedInput: { a: 10, b: 10 } }),
      [{ type: 'text', text: '20' }],
      undefined,
    ],
    ['denies', async () => ({ behavior: 'deny' as const, message: 'not today' }), 'not today', true],
    [
      'throws about',
      async () => Promise.reject(new Error('oops')),
      'Tool permission request failed: Error: oops',
      true,
    ],
  ])('canUseTool %s a call that no rule allows', async (_, canUseTool, content, is_error) => {
    const { query, model } = drive([toolUse('mcp__calc__add', { a: 1, b: 2 }, '1'), text('ok')], {
      mcpServers: { calc: calc() },
      canUseTool,
    });
    await collect(query);
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: '1', content, ...(is_error && { is_error }) },
    ]);
  });

  test('without a callback a call that no rule allows is denied and listed in the result', async () => {
    const { query } = drive([toolUse('mcp__calc__add', { a: 1, b: 2 }, '1'), text('ok')], {
      mcpServers: { calc: calc() },
    });
    const messages = await collect(query);
    expect(messages.at(-1)).toMatchObject({
      permission_denials: [{ tool_name: 'mcp__calc__add', tool_use_id: '1', tool_input: { a: 1, b: 2 } }],
    });
  });

  test('maxTurns ends a turn with a failed result', async () => {
    const { query } = drive(
      () => toolUse('mcp__calc__add', { a: 1, b: 2 }),
      { mcpServers: { calc: calc() } },
      {
        rules: allow('mcp__calc'),
        maxTurns: 2,
      },
    );
    expect((await collect(query)).at(-1)).toMatchObject({
      subtype: 'error_max_turns',
      num_turns: 3,
      errors: ['Reached maximum number of turns (2)'],
    });
  });

  test('interrupt ends a slow tool; the next turn works', async () => {
    const started = Promise.withResolvers<void>();
    const slow = toolServer('slow').tool('wait', 'Waits', {}, async (_, { signal }) => {
      started.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'late';
    });
    const next = Promise.withResolvers<void>();
    async function* prompts() {
      yield {
        type: 'user' as const,
        message: { role: 'user' as const, content: 'one' },
        parent_tool_use_id: null,
      };
      await next.promise;
      yield {
        type: 'user' as const,
        message: { role: 'user' as const, content: 'two' },
        parent_tool_use_id: null,
      };
    }
    const { query } = drive(
      [toolUse('mcp__slow__wait', {}, '1'), text('second')],
      { mcpServers: { slow }, prompt: prompts() },
      { rules: allow('mcp__slow') },
    );
    const results: string[] = [];
    const reading = (async () => {
      for await (const message of query) {
        if (message.type !== 'result') continue;
        results.push(message.subtype);
        next.resolve();
      }
    })();
    await started.promise;
    expect(await query.interrupt()).toEqual({ still_queued: [] });
    await reading;
    expect(results).toEqual(['error_during_execution', 'success']);
  });

  test('an invalid server is reported with its error and does not affect the others', async () => {
    const { query } = drive(
      [text('hi')],
      { mcpServers: { calc: calc() } },
      { servers: { bad: { command: '/nowhere/server' } } },
    );
    const messages = await collect(query);
    expect(messages[0]).toMatchObject({
      tools: ['mcp__calc__add', 'mcp__calc__boom'],
      mcp_servers: [
        { name: 'bad', status: 'failed' },
        { name: 'calc', status: 'connected' },
      ],
    });
  });

  test('an unknown control request is refused by name', async () => {
    const { query } = drive([text('hi')]);
    await expect(query.reloadPlugins()).rejects.toMatchObject({
      code: 'control-failed',
      errorCode: 'unsupported_request',
    });
    await collect(query);
  });
});

describe('session life', () => {
  const said = (content: string): SDKUserMessage =>
    ({
      type: 'user',
      message: { role: 'user', content },
      parent_tool_use_id: null,
      session_id: '',
    }) as SDKUserMessage;

  test('a user message ends Sleep within a second', async () => {
    const asleep = Promise.withResolvers<void>();
    async function* prompts() {
      yield said('wait for me');
      await asleep.promise;
      yield said('here I am');
    }
    const { query, model } = drive(
      [toolUse('Sleep', { seconds: 600 }, 't1'), text('ok'), text('hello')],
      {
        prompt: prompts(),
      },
      { builtIns: ['Sleep'] },
    );
    let since = 0;
    let took = Number.NaN;
    for await (const message of query) {
      if (message.type === 'assistant' && since === 0) {
        since = performance.now();
        // The call begins in a later turn of the event loop than the message about it.
        setImmediate(() => setImmediate(asleep.resolve));
      }
      if (message.type === 'user' && Number.isNaN(took)) took = performance.now() - since;
    }
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(
      'Woken by the user: a message is waiting',
    );
    expect(took).toBeLessThan(1_000);
  });

  test('a lost server ends Sleep', async () => {
    const { query, model, session } = drive(
      [toolUse('Sleep', { seconds: 600 }, 't1'), text('ok')],
      {},
      { builtIns: ['Sleep'], servers: { fix: fixture() } },
    );
    for await (const message of query) {
      if (message.type === 'assistant' && message.message.content[0]?.type === 'tool_use') {
        setImmediate(() => setImmediate(() => void session().servers.connection('fix')?.close()));
      }
    }
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Woken by server fix: failed');
  });

  test('a server that hangs delays the first turn only', async () => {
    const hangs = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
    async function* prompts() {
      yield said('one');
      yield said('two');
    }
    const { query } = drive([text('1'), text('2')], { prompt: prompts() }, { servers: { hangs } });
    const ends: number[] = [];
    for await (const message of query) {
      if (message.type === 'result') ends.push(message.duration_ms);
    }
    expect(ends[0]).toBeGreaterThan(3_000);
    expect(ends[1]).toBeLessThan(2_000);
  }, 30_000);
});

describe('session warnings', () => {
  /** A server on stdio that lists these tools, whatever they are. */
  const listing = (tools: unknown[]) =>
    script(`
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
      else if (method === 'tools/list') send({ id, result: { tools: ${JSON.stringify(tools)} } });
      else send({ id, error: { code: -32601, message: 'no' } });
    });
  `);
  const BAD = { name: 'bad', inputSchema: 7 };
  const GOOD = { name: 'good', inputSchema: { type: 'object' } };

  test('reports tools that cannot be offered and tools with an alias', async () => {
    const notes: string[] = [];
    const { query, model } = drive(
      [text('ok'), text('ok')],
      {},
      {
        servers: { s: listing([BAD, GOOD, { ...GOOD, name: 'go od' }, { ...GOOD, name: 'go_od' }]) },
        note: (it) => notes.push(it),
      },
    );
    await collect(query);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual([
      'mcp__s__go_od',
      expect.stringMatching(/^mcp__s__go_od_[0-9a-f]{8}$/),
      'mcp__s__good',
    ]);
    expect(notes).toEqual([
      expect.stringMatching(/^MCP server "s": .*bad.*inputSchema/),
      expect.stringMatching(
        /^tool "go_od" of server "s" is offered as mcp__s__go_od_\w{8}: another tool already has its full name/,
      ),
    ]);
  });

  test('reports the same for servers of a sub-agent', async () => {
    const notes: string[] = [];
    const { query } = drive(
      [
        toolUse('Agent', {
          description: 'd',
          prompt: 'p',
          subagent_type: 'helper',
          run_in_background: false,
        }),
        text('done'),
        text('ok'),
      ],
      {},
      {
        builtIns: ['Agent'],
        rules: allow('Agent'),
        agents: {
          helper: { description: 'h', prompt: 'Help.', mcpServers: [{ own: listing([BAD, GOOD]) }] },
        },
        note: (it) => notes.push(it),
      },
    );
    await collect(query);
    expect(notes).toEqual([expect.stringMatching(/^MCP server "own" of the sub-agent helper: .*bad/)]);
  });
});

describe('session processes', () => {
  const BASH = {
    builtIns: ['Bash'],
    rules: allow('Bash'),
    workspace: { cwd: tmpdir(), home: tmpdir(), directories: [] },
  };
  const user = (content: string) => ({ type: 'user', message: { role: 'user', content } });

  test('an interrupted command returns its output so far; the interrupt is answered immediately', async () => {
    const { hold, started, ended } = lifeline();
    const stubborn = `echo half of it; trap "" TERM; ${hold} while :; do sleep 0.05; done`;
    const { send, ask, result, model } = raw(
      [toolUse('Bash', { command: stubborn }, 't1'), text('second')],
      BASH,
    );
    await send(user('one'));
    await started;
    const order: string[] = [];
    void ended.then(() => order.push('ended'));
    await ask('interrupt').then(() => order.push('answered'));
    expect(await result(1)).toMatchObject({ subtype: 'error_during_execution' });
    await ended;
    expect(order).toEqual(['answered', 'ended']);
    await send(user('two'));
    expect(await result(2)).toMatchObject({ result: 'second' });
    expect(results(model.requests[1])).toEqual({
      t1: '!Interrupted; the command and its processes were terminated\nhalf of it',
    });
  });

  test('a command that only reads the workspace runs without a rule; the link of a path is resolved', async () => {
    const cwd = realpathSync(await temporaryRoot());
    writeFileSync(join(cwd, 'a.txt'), 'text');
    symlinkSync('/etc', join(cwd, 'link'));
    const calls = ['cat a.txt', 'cat link/passwd', 'touch b'].map((command, at) =>
      toolUse('Bash', { command }, `t${at}`),
    );
    const { send, result, model } = raw([...calls, text('done')], {
      ...BASH,
      rules: [],
      asksProgram: false,
      workspace: { cwd, home: tmpdir(), directories: [] },
    });
    await send(user('one'));
    expect(await result(1)).toMatchObject({
      result: 'done',
      permission_denials: [{ tool_use_id: 't1' }, { tool_use_id: 't2' }],
    });
    expect(results(model.requests[1])).toEqual({ t0: 'text' });
    expect(readdirSync(cwd)).not.toContain('b');
  });

  test('a permission request says what the call does and which path is outside', async () => {
    const cwd = realpathSync(await temporaryRoot());
    const calls = [
      toolUse('Bash', { command: 'cat /etc/hosts' }, 't0'),
      toolUse('Bash', { command: 'make', description: 'Build it' }, 't1'),
      toolUse('Write', { file_path: 'a.txt', content: 'x' }, 't2'),
    ];
    const { send, asked, answer } = raw([together(...calls), text('done')], {
      builtIns: ['Bash', 'Write'],
      workspace: { cwd, home: tmpdir(), directories: [] },
    });
    await send(user('one'));
    const requests = [];
    for (const n of [1, 2, 3]) {
      const { request_id, request } = await asked('can_use_tool', n);
      requests.push(request);
      await answer(request_id, { behavior: 'deny', message: 'no' });
    }
    expect(requests).toMatchObject([
      { display_name: 'Bash', description: 'cat /etc/hosts', blocked_path: '/etc/hosts' },
      { display_name: 'Bash', description: 'Build it' },
      { display_name: 'Write', description: 'a.txt' },
    ]);
    expect(requests.filter((it) => 'blocked_path' in it)).toHaveLength(1);
  });

  test('background processes end before the session is done', async () => {
    const [open, quiet] = [lifeline(), lifeline()];
    const command = `(${open.hold} sleep 600) & (${quiet.hold} sleep 600) > /dev/null 2>&1 &`;
    const { send, result, session } = raw([toolUse('Bash', { command }, 't1'), text('ok')], BASH);
    await send(user('one'));
    expect(await result(1)).toMatchObject({ result: 'ok' });
    await Promise.all([open.started, quiet.started]);
    session.end();
    await session.done;
    await Promise.all([open.ended, quiet.ended]);
  });
});

describe('full disk', () => {
  const PROGRAM = fileURLToPath(new URL('../../support/fixtures/write-everything.ts', import.meta.url));

  /** Runs the writers in a process whose files may have so many blocks: a write beyond fails as on a full disk. */
  async function writeAll(root: string, blocks: number, long: string): Promise<Record<string, string[]>> {
    const script = `ulimit -f ${blocks}; exec "$0" "$@"`;
    const args = ['-c', script, process.execPath, '--conditions=toolplane-source', PROGRAM, root, long];
    const { stdout } = await promisify(execFile)('/bin/sh', args, { env: { PATH: process.env.PATH } });
    return JSON.parse(stdout);
  }

  /** The contents of all files below a directory, by their paths. */
  function contents(root: string): Record<string, string> {
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
    const files = paths.filter((path) => statSync(join(root, path)).isFile());
    return Object.fromEntries(files.toSorted().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  }

  /** Writers of caches: they report no errors, because the content can be requested again. */
  const SILENT = ['catalogue', 'eras'];

  test.each([
    ['not even a lock', 0],
    ['no whole file', 1],
  ])(
    'a disk with room for %s: each writer removes its file and reports the cause',
    async (_, blocks) => {
      const root = realpathSync(await temporaryRoot());
      const reported = await writeAll(root, blocks, 'x'.repeat(3_000));
      expect(contents(root)).toEqual({});
      for (const [name, texts] of Object.entries(reported)) {
        const expected = SILENT.includes(name) ? [] : [expect.stringContaining('EFBIG')];
        expect([name, texts]).toEqual([name, expected]);
      }
    },
    30_000,
  );

  test('a full disk leaves existing files unchanged', async () => {
    const root = realpathSync(await temporaryRoot());
    const before = await writeAll(root, 1_000, 'short');
    const files = contents(root);
    expect([Object.values(before).flat(), Object.keys(files)]).toEqual([[], expect.any(Array)]);
    expect(Object.keys(files).length).toBeGreaterThanOrEqual(12);
    writeFileSync(join(root, 'created'), 'mine');
    await writeAll(root, 0, 'y'.repeat(3_000));
    expect(contents(root)).toEqual({ ...files, created: 'mine' });
  }, 30_000);
});

describe('unmatched rules', () => {
  const deny = (...rules: string[]): Rule[] =>
    rules.flatMap((rule) => {
      const parsed = parseRule(rule, 'deny', 'cliArg');
      return parsed.ok ? [parsed.rule] : [];
    });

  test('reports a deny rule that matches no tool once', async () => {
    const notes: string[] = [];
    const { query } = drive(
      [text('ok')],
      { mcpServers: { calc: calc() } },
      { rules: deny('mcp__calc__boom', 'mcp__calk__add'), note: (it) => void notes.push(it) },
    );
    await collect(query);
    expect(notes).toEqual(['deny rule "mcp__calk__add" of cliArg matches no known tool; check its spelling']);
  });

  test('reports nothing while a server is connecting', async () => {
    const notes: string[] = [];
    const { query } = drive(
      [text('ok')],
      {},
      {
        servers: { later: { command: 'x', start: 'on-demand' } },
        rules: deny('mcp__later__x'),
        note: (it) => void notes.push(it),
      },
    );
    await collect(query);
    expect(notes).toEqual([]);
  });
});
