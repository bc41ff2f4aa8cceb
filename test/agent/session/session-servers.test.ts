import { expect, test } from 'vitest';
import { McpServer } from '../../../interop/node_modules/@modelcontextprotocol/server/dist/index.mjs';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { startWeb } from '../../mcp/transports/http/support/web.ts';
import { collect } from '../../support/collect.ts';
import { allow, calc, drive, raw, resultOf, results, said, texts, untilResult } from '../../support/drive.ts';
import { fixture, isAlive } from '../../support/fixture-server.ts';
import { gate } from '../../support/gate.ts';

const user = (content: string): Frame => ({ type: 'user', message: { role: 'user', content } });

/** The number a `pid` tool gave. */
async function pidOf(ask: ReturnType<typeof raw>['ask'], tool = 'mcp__fix__pid'): Promise<number> {
  const { response } = await ask('mcp_call', { tool, arguments: {} });
  return Number((response as { content: [{ text: string }] }).content[0].text);
}

async function namesOf(ask: ReturnType<typeof raw>['ask']): Promise<string[]> {
  const { response } = await ask('mcp_status');
  return (response as { mcpServers: { name: string; status: string }[] }).mcpServers.map(
    ({ name, status }) => `${name} ${status}`,
  );
}

test('mcp_set_servers adds new servers, closes missing ones and keeps unchanged ones', async () => {
  const { ask } = raw([]);
  expect(await ask('mcp_set_servers', { servers: { fix: fixture(), two: fixture() } })).toMatchObject({
    response: { added: ['fix', 'two'], removed: [], errors: {} },
  });
  const [first, second] = [await pidOf(ask), await pidOf(ask, 'mcp__two__pid')];
  expect(await ask('mcp_set_servers', { servers: { fix: fixture() } })).toMatchObject({
    response: { added: [], removed: ['two'], errors: {} },
  });
  expect(await pidOf(ask)).toBe(first);
  expect(isAlive(second)).toBe(false);
  expect(await ask('mcp_set_servers', { servers: { fix: fixture({ env: { X: '1' } }) } })).toMatchObject({
    response: { added: ['fix'], removed: [] },
  });
  expect(await pidOf(ask)).not.toBe(first);
  expect(isAlive(first)).toBe(false);
});

test('mcp_set_servers: invalid entries and prototype names do not affect valid ones', async () => {
  const { ask } = raw([]);
  const servers = JSON.parse('{ "__proto__": null }');
  Object.assign(servers, {
    constructor: fixture(),
    gone: { command: '/nowhere/server' },
    none: null,
    odd: { type: 'carrier-pigeon' },
    policy: { ...fixture(), tools: [null, 7, { name: 'echo', permission_policy: 'always_deny' }] },
  });
  const { response } = (await ask('mcp_set_servers', { servers })) as { response: Frame };
  expect(response.added).toEqual(['constructor', 'gone', 'policy']);
  expect(Object.keys(response.errors as Frame).sort()).toEqual(['__proto__', 'gone', 'none', 'odd']);
  expect(await namesOf(ask)).toEqual(['constructor connected', 'gone failed', 'policy connected']);
  expect(await pidOf(ask, 'mcp__constructor__pid')).toBeGreaterThan(0);
  expect(await ask('mcp_call', { tool: 'mcp__policy__echo' })).toMatchObject({ subtype: 'error' });
  expect(await ask('mcp_set_servers', { servers: [] })).toMatchObject({ subtype: 'error' });
});

test('servers of the start stay when the program replaces its own', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() } });
  await session.servers.ready();
  expect(await ask('mcp_set_servers', { servers: {} })).toMatchObject({ response: { removed: [] } });
  expect(await namesOf(ask)).toEqual(['fix connected']);
});

test('mcp_toggle stops and starts the process; of concurrent requests the last one wins', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() } });
  await session.servers.ready();
  const first = await pidOf(ask);
  await ask('mcp_toggle', { serverName: 'fix', enabled: false });
  expect(await namesOf(ask)).toEqual(['fix disabled']);
  expect(isAlive(first)).toBe(false);
  await Promise.all([true, false, true].map((enabled) => ask('mcp_toggle', { serverName: 'fix', enabled })));
  expect(await namesOf(ask)).toEqual(['fix connected']);
  expect(await pidOf(ask)).not.toBe(first);
  for (const ways of [
    [false, true, false],
    [true, false],
  ]) {
    await Promise.all(ways.map((enabled) => ask('mcp_toggle', { serverName: 'fix', enabled })));
    expect(await namesOf(ask)).toEqual(['fix disabled']);
  }
  expect(await ask('mcp_toggle', { serverName: 'nope', enabled: true })).toMatchObject({
    error: 'Server not found: nope',
  });
});

test('mcp_reconnect starts a new process, also for concurrent requests, and reports errors', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture(), bad: { command: '/nowhere/server' } } });
  await session.servers.ready();
  const pids = [await pidOf(ask)];
  await ask('mcp_reconnect', { serverName: 'fix' });
  pids.push(await pidOf(ask));
  const all = await Promise.all([1, 2, 3].map(() => ask('mcp_reconnect', { serverName: 'fix' })));
  expect(all.map(({ subtype }) => subtype)).toEqual(['success', 'success', 'success']);
  const last = await pidOf(ask);
  expect(pids.map(isAlive)).toEqual([false, false]);
  expect(await ask('mcp_reconnect', { serverName: 'bad' })).toMatchObject({
    subtype: 'error',
    error: expect.stringContaining('/nowhere/server'),
  });
  session.end();
  await session.done;
  expect(isAlive(last)).toBe(false);
});

test('a server that is replaced while it reconnects leaves no process behind', async () => {
  const { ask, session } = raw([], {});
  await ask('mcp_set_servers', { servers: { fix: fixture() } });
  const reconnecting = ask('mcp_reconnect', { serverName: 'fix' });
  await ask('mcp_set_servers', { servers: {} });
  await reconnecting;
  expect(session.servers.all.size).toBe(0);
  expect(await ask('mcp_call', { tool: 'mcp__fix__pid' })).toMatchObject({ subtype: 'error' });
});

test('an in-process server can replace a process server of the same name', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() } });
  await session.servers.ready();
  const pid = await pidOf(ask);
  await ask('initialize', { sdkMcpServers: ['fix'] });
  session.end();
  await session.done;
  expect(isAlive(pid)).toBe(false);
});

test('mcp_call: a timeout or cancellation is sent to the server', async () => {
  const { ask, send, session } = raw([], { servers: { fix: fixture({ timeout: 100 }), slow: fixture() } });
  await session.servers.ready();
  expect(await ask('mcp_call', { tool: 'mcp__fix__wait' })).toMatchObject({
    subtype: 'error',
    error:
      'MCP server "fix": tool "wait" timed out after 100 ms; raise "timeout" of the server entry if it may take longer',
  });
  const request = { subtype: 'mcp_call', tool: 'mcp__slow__wait' };
  await send({ type: 'control_request', request_id: 'taken', request });
  // Requests are served in order: after this answer, the call before it has begun.
  await ask('mcp_call', { tool: 'mcp__slow__pid' });
  await send({ type: 'control_cancel_request', request_id: 'taken' });
  for (const server of ['fix', 'slow']) {
    expect(await ask('mcp_call', { tool: `mcp__${server}__cancelled` })).toMatchObject({
      response: { content: [{ text: '1' }] },
    });
  }
});

test('a server that announces a change but fails to list keeps its tools', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() } });
  await session.servers.ready();
  const before = session.servers.tools.get('fix');
  await ask('mcp_call', { tool: 'mcp__fix__sulk' });
  await session.servers.listed();
  expect(session.servers.tools.get('fix')).toBe(before);
  expect(await namesOf(ask)).toEqual(['fix connected']);
});

test('a new in-process server under the same name gets its own handshake', async () => {
  const { ask, asked, answer } = raw([]);
  const served: unknown[] = [];
  let isNew = false;
  void (async () => {
    for (let n = 1; ; n++) {
      const { request_id, request } = await asked('mcp_message', n);
      const { method, id } = request.message as { method: string; id?: number };
      served.push(method);
      if (method === 'initialize') isNew = false;
      const serverInfo = { name: 'x', version: '1' };
      const handshake = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
      const result = method === 'initialize' ? handshake : { tools: [] };
      const body = isNew ? { error: { code: -32600, message: 'not initialized' } } : { result };
      await answer(request_id, { mcp_response: { jsonrpc: '2.0', id, ...body } });
    }
  })();
  const servers = { s: { type: 'sdk', name: 's' } };
  await ask('mcp_set_servers', { servers });
  const handshake = ['initialize', 'notifications/initialized', 'tools/list'];
  const spoken = () => served.filter((it) => it !== 'server/discover');
  expect(spoken()).toEqual(handshake);
  isNew = true;
  expect(await ask('mcp_set_servers', { servers })).toMatchObject({ response: { added: [], errors: {} } });
  expect(spoken()).toEqual([...handshake, 'tools/list', ...handshake]);
  expect(await namesOf(ask)).toEqual(['s connected']);
});

test('changed prompts update the commands', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() } });
  await session.servers.ready();
  await ask('mcp_call', { tool: 'mcp__fix__learn' });
  await session.servers.listed();
  const { response } = (await ask('supported_commands')) as { response: { commands: { name: string }[] } };
  expect(response.commands.map(({ name }) => name)).toContain('mcp__fix__learned');
});

test('mcp_status reports annotations and errors without secrets', async () => {
  // A 404 is final; a server that may recover would be `pending` during each retry.
  await using web = await startWeb((_, response) => response.writeHead(404).end());
  const { ask, session } = raw([], {
    servers: {
      fix: fixture({ env: { TOKEN: 'sesame' } }),
      bad: {
        type: 'http',
        url: `${web.url}?key=sesame`,
        headers: { Authorization: 'Bearer sesame' },
      },
    },
  });
  await session.servers.ready();
  const { response } = await ask('mcp_status');
  expect(response).toMatchObject({
    mcpServers: [
      {
        name: 'fix',
        status: 'connected',
        serverInfo: { name: 'fixture', version: '7' },
        source: 'dynamic',
        transport: 'stdio',
        tools: expect.arrayContaining([
          { name: 'echo', annotations: { readOnly: true } },
          { name: 'pid', annotations: { openWorld: true } },
          { name: 'die', annotations: { destructive: true } },
          { name: 'wait', annotations: {} },
        ]),
      },
      { name: 'bad', status: 'failed', error: expect.stringContaining('bad'), config: { type: 'http' } },
    ],
  });
  expect(JSON.stringify(response)).not.toContain('sesame');
});

test('mcp_call calls any tool of a server without the model and without approval', async () => {
  const { ask, session } = raw([], { servers: { fix: fixture() }, builtIns: ['Bash'] });
  await session.servers.ready();
  expect(await ask('mcp_call', { tool: 'mcp__fix__echo', arguments: { text: 'hi' } })).toMatchObject({
    response: { content: [{ type: 'text', text: 'hi' }] },
  });
  for (const tool of ['Bash', 'mcp__fix__none', 'constructor', undefined]) {
    expect(await ask('mcp_call', { tool })).toMatchObject({ subtype: 'error' });
  }
});

test('a tool added by a server is sent in the next request (R140, R146)', async () => {
  const { query, model } = drive(
    async (_, n) => {
      if (n === 1) return toolUse('mcp__fix__grow', {}, 't1');
      if (n === 3) return toolUse('mcp__fix__extra', {}, 't3');
      return n === 2 ? toolUse('mcp__fix__echo', {}, 't2') : text('ok');
    },
    {},
    { servers: { fix: fixture() }, rules: allow('mcp__fix') },
  );
  await collect(query);
  const offered = model.requests.map(({ tools }) => tools.some(({ name }) => name === 'mcp__fix__extra'));
  expect(offered[0]).toBe(false);
  expect(offered[2]).toBe(true);
  expect(results(model.requests[3])).toEqual({ t1: 'grown', t2: 'echo', t3: 'extra' });
});

test('connect_mcp connects an on-demand server; its tools are sent in the next request (R139, R140, R146)', async () => {
  const { query, model } = drive(
    [
      together(toolUse('connect_mcp', { name: 'fix' }, 'c1'), toolUse('connect_mcp', { name: 'none' }, 'c2')),
      together(
        toolUse('connect_mcp', { name: 'fix' }, 'c3'),
        toolUse('mcp__fix__echo', { text: 'hi' }, 't1'),
      ),
      text('ok'),
    ],
    { mcpServers: { calc: calc() } },
    {
      builtIns: ['connect_mcp', 'Read', 'Bash'],
      servers: { fix: fixture({ start: 'on-demand' }) },
      rules: allow('mcp__fix', 'connect_mcp'),
    },
  );
  const [init] = await collect(query);
  expect(init).toMatchObject({ mcp_servers: [{ name: 'fix', status: 'pending' }, { name: 'calc' }] });
  const connected = ['cancelled', 'die', 'echo', 'grow', 'learn', 'pid', 'steps', 'sulk', 'wait'].map(
    (it) => `mcp__fix__${it}`,
  );
  expect(results(model.requests[2])).toEqual({
    c1: `Connected to 'fix'. Discovered: ${connected.join(', ')}`,
    c2: "!Unknown server 'none'. Available: fix, calc",
    c3: "MCP server 'fix' already connected",
    t1: 'hi',
  });
  const [before, after] = model.requests;
  const builtIns = (before?.cacheAfterTool ?? -1) + 1;
  expect(builtIns).toBe(3);
  expect(after?.cacheAfterTool).toBe(before?.cacheAfterTool);
  // Byte for byte, or a prompt cache would be lost (R161).
  expect(JSON.stringify(after?.tools.slice(0, builtIns))).toBe(
    JSON.stringify(before?.tools.slice(0, builtIns)),
  );
  expect(before?.tools.some(({ name }) => name === 'mcp__fix__echo')).toBe(false);
  expect(before?.system).toContain('connect_mcp connects a server by its name');
  expect(after?.system).not.toContain('connect_mcp connects a server by its name');
  expect(after?.system).toContain('## fix\nEcho with echo.');
});

test('connect_mcp reports why a server cannot be connected', async () => {
  const { query, model } = drive(
    [toolUse('connect_mcp', { name: 'bad' }, 'c1'), text('ok')],
    {},
    {
      builtIns: ['connect_mcp'],
      servers: { bad: { command: '/nowhere/server', start: 'on-demand' } },
      rules: allow('connect_mcp'),
    },
  );
  await collect(query);
  expect(results(model.requests[1]).c1).toMatch(/^!Could not connect to 'bad': .*\/nowhere\/server/);
});

const methods = (frames: { from: string; frame: Frame }[]) =>
  frames.flatMap(({ from, frame }) => {
    const { subtype, message } = (frame.request ?? {}) as { subtype?: string; message?: Frame };
    return from === 'agent' && subtype === 'mcp_message' ? [message?.method] : [];
  });

test.each([
  ['a manifest is believed: the first word is the call (C29)', {}, ['tools/call']],
  [
    'without one the handshake is made (R4, R47, R53)',
    { env: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' } },
    ['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
  ],
])('%s', async (_, options, expected) => {
  const { query, model, frames } = drive(
    [toolUse('mcp__calc__add', { a: 1, b: 1 }, 't1'), text('ok')],
    { mcpServers: { calc: calc() }, ...options },
    { rules: allow('mcp__calc') },
  );
  await collect(query);
  expect(results(model.requests[1])).toEqual({ t1: '2' });
  expect(methods(frames).filter((it) => it !== 'server/discover')).toEqual(expected);
});

test.each([
  ['no object', 7],
  ['without a version', { initializeResult: { capabilities: {}, serverInfo: {} } }],
  ['without anything', { initializeResult: {} }],
])('a manifest that is %s is ignored', async (_, manifest) => {
  const { ask, asked } = raw([]);
  await ask('initialize', { sdkMcpServers: ['calc'], sdkMcpServerManifests: { calc: manifest } });
  const { request } = await asked('mcp_message');
  expect(request).toMatchObject({ server_name: 'calc' });
});

test('an in-process server that changed its tools is listed again, also after mcp_reconnect', async () => {
  const server = toolServer('s').tool('first', 'First', {}, () => 'one');
  async function* prompts() {
    yield said('one');
    await next.promise;
    yield said('two');
  }
  const next = Promise.withResolvers<void>();
  const { query, model, session } = drive(() => text('ok'), { mcpServers: { s: server }, prompt: prompts() });
  await untilResult(query);
  const version = session().servers.version;
  server.tool('second', 'Second', {}, () => 'two');
  await query.reconnectMcpServer('s');
  expect(session().servers.version).toBeGreaterThan(version);
  next.resolve();
  await untilResult(query);
  expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['mcp__s__first', 'mcp__s__second']);
});

test('another in-process server under the same name is used from the next turn on', async () => {
  const next = Promise.withResolvers<void>();
  async function* prompts() {
    yield said('one');
    await next.promise;
    yield said('two');
  }
  const { query, model } = drive(
    (_, n) => (n === 2 ? toolUse('mcp__s__new', {}, 't1') : text('ok')),
    { mcpServers: { s: toolServer('s').tool('old', 'Old', {}, () => 'old') }, prompt: prompts() },
    { rules: allow('mcp__s') },
  );
  await untilResult(query);
  await query.setMcpServers({ s: toolServer('s').tool('new', 'New', {}, () => 'new') });
  next.resolve();
  await untilResult(query);
  expect(results(model.requests[2])).toEqual({ t1: 'new' });
});

/** A server of the official SDK that sends requests to its caller. */
function curious() {
  const server = new McpServer({ name: 'curious', version: '1' }, { capabilities: { tools: {} } });
  const reply = (it: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(it) }] });
  type Asks = { mcpReq: { send(request: object): Promise<unknown> } };
  const register = (name: string, request: object) =>
    server.registerTool(name, {}, (async (context: Asks) =>
      reply(await context.mcpReq.send(request))) as never);
  register('elicit', {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    },
  });
  register('sample', {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: 'think' } }], maxTokens: 5 },
  });
  register('roots', { method: 'roots/list' });
  return server;
}

test('an in-process server can request elicitation, sampling and roots', async () => {
  const heard: unknown[] = [];
  const { query, model } = drive(
    (request) => {
      const prompt = JSON.stringify(request.messages);
      if (prompt.includes('"think"')) return text('a thought');
      return model.requests.length === 1
        ? together(
            toolUse('mcp__c__elicit', {}, 'elicit'),
            toolUse('mcp__c__sample', {}, 'sample'),
            toolUse('mcp__c__roots', {}, 'roots'),
          )
        : text('ok');
    },
    {
      mcpServers: { c: { type: 'sdk', name: 'c', instance: curious() } },
      env: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' },
      onElicitation: async (request) => {
        heard.push(request);
        return { action: 'accept', content: { name: 'Ada' } };
      },
    },
    { rules: allow('mcp__c') },
  );
  const result = resultOf(await collect(query));
  // Two replies of the conversation, and the one the server asked for.
  expect(result).toMatchObject({ num_turns: 4, modelUsage: { m: { outputTokens: 15 } } });
  const { elicit, sample, roots } = results(model.requests.at(-1));
  expect(JSON.parse(elicit ?? '')).toEqual({ action: 'accept', content: { name: 'Ada' } });
  expect(JSON.parse(sample ?? '')).toMatchObject({
    role: 'assistant',
    content: { type: 'text', text: 'a thought' },
  });
  expect(JSON.parse(roots ?? '')).toEqual({ roots: [{ uri: 'file:///w', name: 'workspace' }] });
  expect(heard).toMatchObject([{ serverName: 'c', message: 'Your name?' }]);
  expect(model.requests.find(({ maxTokens }) => maxTokens === 5)?.tools).toEqual([]);
});

test.each([
  [
    'answers',
    { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { name: 'Hook' } } },
    { action: 'accept', content: { name: 'Hook' } },
  ],
  ['declines', { decision: 'block' }, { action: 'decline' }],
  [
    'answers garbage',
    { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'shout' } },
    { action: 'cancel' },
  ],
])('an Elicitation hook that %s answers instead of the user', async (_, answer, expected) => {
  let asked = 0;
  const { query, model } = drive(
    [toolUse('mcp__c__elicit', {}, 't1'), text('ok')],
    {
      mcpServers: { c: { type: 'sdk', name: 'c', instance: curious() } },
      env: { CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS: '1' },
      hooks: { Elicitation: [{ hooks: [async () => answer as never] }] },
      onElicitation: async () => {
        asked++;
        return { action: 'cancel' };
      },
    },
    { rules: allow('mcp__c') },
  );
  await collect(query);
  expect({ asked, answer: JSON.parse(results(model.requests[1]).t1 ?? '') }).toEqual({
    asked: 0,
    answer: expected,
  });
});

test('progress is reported with the id of its call', async () => {
  const { query } = drive(
    [toolUse('mcp__fix__steps', {}, 't1'), text('ok')],
    {},
    { servers: { fix: fixture() }, rules: allow('mcp__fix') },
  );
  const messages = (await collect(query)) as unknown as Frame[];
  expect(messages.filter(({ type }) => type === 'tool_progress')).toMatchObject([
    {
      tool_use_id: 't1',
      tool_name: 'mcp__fix__steps',
      parent_tool_use_id: null,
      elapsed_time_seconds: 0,
      progress: { progress: 1, total: 2 },
    },
    { tool_use_id: 't1', progress: { progress: 2, total: 2 } },
  ]);
});

test("a call that exceeds the server's limit fails; the server stays connected", async () => {
  const { query, model } = drive(
    [
      toolUse('mcp__fix__wait', {}, 't1'),
      toolUse('mcp__fix__echo', { text: 'still here' }, 't2'),
      text('ok'),
    ],
    {},
    { servers: { fix: fixture({ timeout: 100 }) }, rules: allow('mcp__fix') },
  );
  await collect(query);
  expect(results(model.requests[2])).toEqual({
    t1: '!MCP server "fix": tool "wait" timed out after 100 ms; raise "timeout" of the server entry if it may take longer',
    t2: 'still here',
  });
});

test('a server that exits during a call: the result says that the call may have run, and the server is restarted', async () => {
  const { query, model, session } = drive(
    [
      toolUse('mcp__fix__die', {}, 't1'),
      toolUse('mcp__fix__echo', { text: 'again' }, 't2'),
      toolUse('connect_mcp', { name: 'fix' }, 't3'),
      text('ok'),
    ],
    {},
    { servers: { fix: fixture() }, rules: allow('mcp__fix', 'connect_mcp'), builtIns: ['connect_mcp'] },
  );
  await collect(query);
  expect(results(model.requests[3])).toMatchObject({
    t1: expect.stringMatching(/^!MCP server "fix": the connection was lost during "die" .*may have run/),
    t2: 'again',
    t3: expect.stringContaining('already connected'),
  });
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name));
  expect(offered[1]).toEqual(offered[0]);
  expect(session().servers.all.get('fix')?.state.kind).toBe('connected');
});

test('prompts of a server are slash commands with arguments, from all pages', async () => {
  async function* prompts() {
    yield said('/mcp__fix__greet "Ada L" very happy today');
    yield said('/mcp__fix__bye');
    yield said('/mcp__fix__none x');
  }
  const { query, model } = drive(() => text('ok'), { prompt: prompts() }, { servers: { fix: fixture() } });
  const [init] = await collect(query);
  expect(init).toMatchObject({ slash_commands: ['clear', 'compact', 'mcp__fix__greet', 'mcp__fix__bye'] });
  expect(model.requests.map(texts)).toEqual([
    ['greet {"who":"Ada L","mood":"very happy today"}'],
    ['bye {}'],
    ['/mcp__fix__none x'],
  ]);
});

test('an interrupt ends a turn that waits for a server; the next turn works', async () => {
  const slow = { command: process.execPath, args: ['-e', 'process.stdin.on("end", process.exit).resume()'] };
  const hook = { event: 'SessionStart', target: { kind: 'command', command: 'echo started' } } as const;
  const { ask, send, result, session, model } = raw([text('second')], {
    servers: { slow },
    hooks: [hook],
    workspace: { cwd: '/', home: '/h', directories: [] },
  });
  await send(user('one'));
  await ask('interrupt');
  expect(await result()).toMatchObject({ subtype: 'error_during_execution' });
  // The slow server is not one of the program, so this request does not wait for it.
  expect(await ask('mcp_set_servers', { servers: {} })).toMatchObject({ response: { added: [] } });
  await ask('mcp_toggle', { serverName: 'slow', enabled: false });
  await send(user('two'));
  expect(await result(2)).toMatchObject({ subtype: 'success', result: 'second' });
  expect(session.servers.all.get('slow')?.state.kind).toBe('disabled');
  // The SessionStart hook, which the interrupted first turn did not run, runs in the second.
  expect(texts(model.requests[0])).toEqual(['two', 'started']);
});

test('read-only calls of one reply run concurrently', async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  const all = gate();
  let running = 0;
  const server = toolServer('s').tool(
    'look',
    'Looks',
    {},
    async () => {
      if (++running === 15) all.open();
      await all.pass();
      return 'seen';
    },
    { annotations: { readOnlyHint: true } },
  );
  const { query } = drive(
    (_, n) => (n === 1 ? together(...Array.from({ length: 15 }, () => toolUse('mcp__s__look'))) : text('ok')),
    { mcpServers: { s: server } },
  );
  expect(resultOf(await collect(query))).toMatchObject({ num_turns: 16 });
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('a second initialize keeps the in-process servers', async () => {
  const over = Promise.withResolvers<void>();
  async function* prompts() {
    yield said('one');
    await over.promise;
  }
  const { query, session } = drive([text('ok')], { mcpServers: { calc: calc() }, prompt: prompts() });
  await untilResult(query);
  const before = session().servers.connection('calc');
  await query.reinitialize();
  expect(before).toBeDefined();
  expect(session().servers.connection('calc')).toBe(before);
  over.resolve();
});

test('a malformed answer of the program fails only that server', async () => {
  const { ask, asked, answer, session } = raw([], { servers: { fix: fixture() } });
  await ask('initialize', { sdkMcpServers: ['odd', '__proto__'] });
  for (const n of [1, 2]) {
    const { request_id } = await asked('mcp_message', n);
    await answer(request_id, { mcp_response: { jsonrpc: '2.0', id: 'other', result: 7 } });
  }
  await session.servers.ready();
  expect(await namesOf(ask)).toEqual(['fix connected', 'odd failed', '__proto__ failed']);
  // A message for a server that does not exist is accepted and dropped.
  const late = { jsonrpc: '2.0', id: 1, method: 'roots/list' };
  expect(await ask('mcp_message', { server_name: 'odd', message: late })).toMatchObject({
    subtype: 'success',
  });
  expect(await ask('mcp_message', { server_name: 'unknown', message: 7 })).toMatchObject({
    subtype: 'success',
  });
});
