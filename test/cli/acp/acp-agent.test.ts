import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { methods, RequestError } from '@agentclientprotocol/sdk/unstable';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpServer } from '../../mcp/support/servers.ts';
import { startSseServer } from '../../mcp/support/sse-server.ts';
import { fixture } from '../../support/fixture-server.ts';
import { after, error, text, together, toolUse } from '../../support/model-api/model-reply.ts';
import { type AcpClient, chunkText, openAcp, select } from '../support/acp-client.ts';
import { startCli } from '../support/run-cli.ts';

const { session } = methods.agent;

test('initialize states what the agent supports', async () => {
  const { initialized } = await openAcp([]);
  expect(initialized).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'toolplane' },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, fork: {}, resume: {}, close: {} },
    },
  });
});

test('a prompt streams text and ends its turn', async () => {
  const acp = await openAcp([text('Hello, ', 'world')]);
  const id = await acp.newSession();
  expect(await acp.prompt(id, 'hi')).toBe('end_turn');
  expect(chunkText(acp.updates)).toBe('Hello, world');
  expect(acp.updatesOf('agent_message_chunk')).toHaveLength(2);
  expect(acp.updatesOf('usage_update')).toMatchObject([{ used: 15, size: expect.any(Number) }]);
});

test('the slash commands are announced after the session is created', async () => {
  const acp = await openAcp([]);
  await acp.newSession();
  const { availableCommands } = await acp.until('available_commands_update');
  expect(availableCommands.map(({ name }) => name)).toContain('compact');
});

test('an allowed call is announced, asked about and completed', async () => {
  const acp = await openAcp([
    together(text('Let me see.'), toolUse('Bash', { command: 'expr out' })),
    text('done'),
  ]);
  const id = await acp.newSession();
  expect(await acp.prompt(id, 'go')).toBe('end_turn');
  const [permission] = acp.permissions;
  expect(permission).toMatchObject({
    sessionId: id,
    toolCall: {
      toolCallId: 'toolu_0001_1',
      kind: 'execute',
      title: 'expr out',
      rawInput: { command: 'expr out' },
    },
  });
  expect(JSON.stringify(permission?.toolCall.content)).toContain('Approval required: ');
  expect(permission?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'reject_once']);
  expect(acp.updatesOf('tool_call')).toMatchObject([
    { toolCallId: 'toolu_0001_1', name: 'Bash', kind: 'execute' },
  ]);
  expect(acp.updatesOf('tool_call_update').at(-1)).toMatchObject({
    toolCallId: 'toolu_0001_1',
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: '```\nout\n```' } }],
  });
  expect(chunkText(acp.updates)).toBe('Let me see.done');
});

test('a permission request shows the whole command, and the whole input of other tools', async () => {
  const command = `echo ${'a'.repeat(250)};\n  touch evil\u202e`;
  const { command: server, args = [] } = fixture();
  const acp = await openAcp(
    [
      toolUse('Bash', { command, description: 'harmless', timeout: 5000 }),
      toolUse('mcp__calc__pid', { deep: { secret: 'yes' } }),
      text('fine'),
    ],
    { answer: select('reject') },
  );
  const sessionId = await acp.newSession({ mcpServers: [{ name: 'calc', command: server, args, env: [] }] });
  await acp.prompt(sessionId, 'go');
  const texts = acp.permissions.map(({ toolCall }) =>
    (toolCall.content ?? []).map((it) =>
      it.type === 'content' && it.content.type === 'text' ? it.content.text : '',
    ),
  );
  expect(texts[0]?.[0]).toBe(`\`\`\`\necho ${'a'.repeat(250)};\n  touch evil\\u202e\n\`\`\``);
  expect(texts[0]?.slice(1, 3)).toEqual(['harmless', '```\n{\n  "timeout": 5000\n}\n```']);
  expect(texts[1]?.[0]).toContain('"secret": "yes"');
});

test('a call is pending until it is allowed', async () => {
  const call = toolUse('Bash', { command: 'touch made' }, 'call');
  const statuses = async (answer: string) => {
    const acp = await openAcp([call, text('fine')], { answer: select(answer) });
    await acp.prompt(await acp.newSession(), 'go');
    const updates = [...acp.updatesOf('tool_call'), ...acp.updatesOf('tool_call_update')];
    return [...new Set(updates.map(({ status }) => status))];
  };
  expect(await statuses('reject')).toEqual(['pending', 'failed']);
  expect(await statuses('allow')).toEqual(['pending', 'in_progress', 'completed']);
});

test('a prompt that would clear the conversation is answered with advice', async () => {
  const acp = await openAcp([text('one')]);
  const id = await acp.newSession();
  expect(await acp.prompt(id, '/clear')).toBe('end_turn');
  const blocks = ['about X', '/new'].map((it) => ({ type: 'text' as const, text: it }));
  await acp.agent.request(session.prompt, { sessionId: id, prompt: blocks });
  expect(acp.api.requests).toEqual([]);
  await expect.poll(() => chunkText(acp.updates).match(/start a new session/g)).toHaveLength(2);
  await acp.prompt(id, 'go');
  expect((await acp.agent.request(session.list, {})).sessions).toMatchObject([{ sessionId: id }]);
});

test('a rejected call does not run, and the turn continues', async () => {
  const acp = await openAcp([toolUse('Bash', { command: 'touch made' }), text('fine')], {
    answer: select('reject'),
  });
  const id = await acp.newSession();
  expect(await acp.prompt(id, 'go')).toBe('end_turn');
  expect(acp.updatesOf('tool_call_update').at(-1)).toMatchObject({ status: 'failed' });
  await expect(readFile(join(acp.cwd, 'made'))).rejects.toThrow('ENOENT');
});

test.each([
  ['an unknown option', () => ({ outcome: { outcome: 'selected', optionId: 'yes' } }) as const],
  [
    'an error',
    () => {
      throw new RequestError(-32603, 'no');
    },
  ],
])('%s as an answer denies the call', async (_, answer) => {
  const acp = await openAcp([toolUse('Bash', { command: 'touch made' }), text('fine')], { answer });
  const id = await acp.newSession();
  await acp.prompt(id, 'go');
  await expect(readFile(join(acp.cwd, 'made'))).rejects.toThrow('ENOENT');
});

test('"always" is not asked again', async () => {
  const call = toolUse('Bash', { command: 'touch made' });
  const acp = await openAcp([call, call, text('done')], { answer: select('allow-always') });
  const id = await acp.newSession();
  expect(await acp.prompt(id, 'go')).toBe('end_turn');
  expect(acp.permissions).toHaveLength(1);
});

test('a permission request that the client cancels ends the turn as cancelled', async () => {
  const answer = () => ({ outcome: { outcome: 'cancelled' } }) as const;
  const acp = await openAcp([toolUse('Bash', { command: 'touch made' }), text('never')], { answer });
  const id = await acp.newSession();
  expect(await acp.prompt(id, 'go')).toBe('cancelled');
  await expect(readFile(join(acp.cwd, 'made'))).rejects.toThrow('ENOENT');
});

test('cancelling stops a request to the model, and the session goes on', async () => {
  const hang = after(new Promise(() => {}), text('never'));
  const acp = await openAcp((_, n) => (n === 1 ? hang : text('again')));
  const id = await acp.newSession();
  const stopped = acp.prompt(id, 'go');
  await acp.api.request(1);
  await acp.agent.notify(session.cancel, { sessionId: id });
  expect(await stopped).toBe('cancelled');
  expect(await acp.prompt(id, 'once more')).toBe('end_turn');
  expect(chunkText(acp.updates)).toBe('again');
});

test('a prompt that is cancelled at once is cancelled', async () => {
  const acp = await openAcp(() => after(new Promise(() => {}), text('never')));
  const id = await acp.newSession();
  const stopped = acp.prompt(id, 'go');
  await acp.agent.notify(session.cancel, { sessionId: id });
  expect(await stopped).toBe('cancelled');
  const aborted = new AbortController();
  const prompt = [{ type: 'text' as const, text: 'again' }];
  const options = { cancellationSignal: aborted.signal };
  const response = acp.agent.request(session.prompt, { sessionId: id, prompt }, options);
  aborted.abort();
  expect((await response).stopReason).toBe('cancelled');
});

test('closing a session cancels its prompt', async () => {
  const acp = await openAcp(() => after(new Promise(() => {}), text('never')));
  const id = await acp.newSession();
  const stopped = acp.prompt(id, 'go');
  await acp.api.request(1);
  await acp.agent.request(session.close, { sessionId: id });
  expect(await stopped).toBe('cancelled');
});

test('cancelling answers a pending permission request and queued prompts', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = () => {
    asked.resolve();
    return new Promise<never>(() => {});
  };
  const acp = await openAcp([toolUse('Bash', { command: 'touch made' }), text('never')], { answer });
  const id = await acp.newSession();
  const prompts = [acp.prompt(id, 'one'), acp.prompt(id, 'two')];
  await asked.promise;
  await acp.agent.notify(session.cancel, { sessionId: id });
  expect(await Promise.all(prompts)).toEqual(['cancelled', 'cancelled']);
  await expect(readFile(join(acp.cwd, 'made'))).rejects.toThrow('ENOENT');
});

test('edits are shown as diffs with absolute locations', async () => {
  const acp = await openAcp([
    toolUse('Read', { file_path: 'a.txt' }),
    toolUse('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
    toolUse('Write', { file_path: 'b.txt', content: 'new\n' }),
    text('done'),
  ]);
  const path = join(acp.cwd, 'a.txt');
  await writeFile(path, 'one\n');
  const id = await acp.newSession();
  await acp.prompt(id, 'go');
  const calls = [...acp.updatesOf('tool_call'), ...acp.updatesOf('tool_call_update')];
  expect(calls).toContainEqual(expect.objectContaining({ kind: 'read', locations: [{ path }] }));
  expect(calls).toContainEqual(
    expect.objectContaining({
      kind: 'edit',
      locations: [{ path }],
      content: [{ type: 'diff', path, oldText: 'one', newText: 'two' }],
    }),
  );
  const created = join(acp.cwd, 'b.txt');
  expect(calls).toContainEqual(
    expect.objectContaining({ content: [{ type: 'diff', path: created, oldText: null, newText: 'new\n' }] }),
  );
  const paths = calls
    .flatMap((it) => [...(it.locations ?? []), ...(it.content ?? [])])
    .flatMap((it) => ('path' in it ? [it.path] : []));
  expect(new Set(paths)).toEqual(new Set([path, created]));
  // A permission request shows nothing beside the diff, such as the default of "replace_all".
  const asked = acp.permissions.find(({ toolCall }) => toolCall.kind === 'edit');
  expect(asked?.toolCall.content?.filter((it) => it.type === 'content')).not.toContainEqual(
    expect.objectContaining({
      content: expect.objectContaining({ text: expect.stringContaining('replace_all') }),
    }),
  );
  expect(await readFile(path, 'utf8')).toBe('two\n');
  expect(await readFile(created, 'utf8')).toBe('new\n');
});

test('a client that shows terminals gets the output of commands as a terminal', async () => {
  const acp = await openAcp([toolUse('Bash', { command: 'echo out; exit 3' }, 'call'), text('done')], {
    capabilities: { _meta: { terminal_output: true } },
  });
  const id = await acp.newSession();
  await acp.prompt(id, 'go');
  const updates = acp.updatesOf('tool_call_update').filter(({ toolCallId }) => toolCallId === 'call');
  expect(updates).toContainEqual(
    expect.objectContaining({ content: [{ type: 'terminal', terminalId: 'call' }] }),
  );
  expect(updates.at(-2)?._meta).toEqual({
    terminal_output: { terminal_id: 'call', data: 'Exit code 3\nout' },
  });
  expect(updates.at(-1)).toMatchObject({
    status: 'failed',
    _meta: { terminal_exit: { terminal_id: 'call', exit_code: 3 } },
  });
});

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('images, links and embedded resources reach the model; data that is no image does not', async () => {
  const acp = await openAcp([text('seen')]);
  const sessionId = await acp.newSession();
  await acp.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: 'text', text: 'Look at' },
      { type: 'resource_link', name: 'a.ts', uri: 'file:///p/a.ts' },
      { type: 'resource', resource: { uri: 'file:///p/b.ts', text: 'const b = 1;' } },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
      { type: 'image', mimeType: 'image/png', data: 'QUFBQQ==' },
    ],
  });
  const content = (await acp.api.request(1)).messages.at(-1)?.content;
  expect(content).toMatchObject([
    { type: 'text', text: 'Look at' },
    { type: 'text', text: '[@a.ts](file:///p/a.ts)' },
    { type: 'text', text: '[@b.ts](file:///p/b.ts)' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
    { type: 'text', text: expect.stringContaining('Image omitted') },
    { type: 'text', text: '<context ref="file:///p/b.ts">\nconst b = 1;\n</context>' },
  ]);
});

test('an image that the model API rejects does not break the session', async () => {
  const acp = await openAcp(({ messages }) =>
    JSON.stringify(messages).includes(PIXEL) ? error(400, 'Could not process image') : text('ok'),
  );
  const sessionId = await acp.newSession();
  const prompt = [{ type: 'image' as const, mimeType: 'image/png', data: PIXEL }];
  const first = await acp.agent.request(session.prompt, { sessionId, prompt });
  expect(first).toMatchObject({ stopReason: 'end_turn' });
  await acp.prompt(sessionId, 'again');
  expect(acp.api.requests).toHaveLength(3);
});

test('modes are listed, set and reported', async () => {
  const acp = await openAcp([toolUse('Write', { file_path: 'a.txt', content: 'a' }), text('done')]);
  const { sessionId, modes, configOptions } = await acp.agent.request(session.new, {
    cwd: acp.cwd,
    mcpServers: [],
  });
  expect(modes?.currentModeId).toBe('default');
  expect(modes?.availableModes.map(({ id }) => id)).toEqual(['default', 'acceptEdits', 'plan', 'dontAsk']);
  expect(configOptions).toMatchObject([{ id: 'mode', currentValue: 'default' }, { id: 'model' }]);
  await acp.agent.request(session.setMode, { sessionId, modeId: 'acceptEdits' });
  await acp.prompt(sessionId, 'go');
  expect(acp.permissions).toEqual([]);
  const set = await acp.agent.request(session.setConfigOption, {
    sessionId,
    configId: 'mode',
    value: 'plan',
  });
  expect(set.configOptions[0]).toMatchObject({ id: 'mode', currentValue: 'plan' });
  const refused = acp.agent.request(session.setMode, { sessionId, modeId: 'bypassPermissions' });
  await expect(refused).rejects.toMatchObject({ code: -32602 });
});

test('models are listed and set', async () => {
  const acp = await openAcp([text('one'), text('two')]);
  const { sessionId, configOptions } = await acp.agent.request(session.new, { cwd: acp.cwd, mcpServers: [] });
  const option = configOptions?.find(({ id }) => id === 'model');
  expect(option).toMatchObject({
    category: 'model',
    options: expect.arrayContaining([{ value: 'claude-opus-5-5', name: 'Opus' }]),
  });
  await acp.agent.request(session.setConfigOption, {
    sessionId,
    configId: 'model',
    value: 'claude-opus-5-5',
  });
  await acp.prompt(sessionId, 'go');
  expect((await acp.api.request(1)).model).toBe('claude-opus-5-5');
  await acp.agent.request('session/set_model', { sessionId, modelId: 'claude-haiku-5-5' });
  await acp.prompt(sessionId, 'go');
  expect((await acp.api.request(2)).model).toBe('claude-haiku-5-5');
  const unknown = { sessionId, configId: 'model', value: 'gpt' };
  await expect(acp.agent.request(session.setConfigOption, unknown)).rejects.toMatchObject({ code: -32602 });
});

test('MCP servers of the request are connected', async () => {
  const { command, args = [] } = fixture();
  const acp = await openAcp((_, n) => (n === 1 ? toolUse('mcp__calc__echo', { text: 'hi' }) : text('done')));
  const sessionId = await acp.newSession({ mcpServers: [{ name: 'calc', command, args, env: [] }] });
  expect(await acp.prompt(sessionId, 'go')).toBe('end_turn');
  expect((await acp.api.request(1)).tools?.map(({ name }) => name)).toContain('mcp__calc__echo');
  expect(acp.permissions[0]?.toolCall.title).toBe('calc: echo');
});

const FAILING = [
  { name: 'gone', command: process.execPath, args: ['-e', 'process.exit(3)'], env: [] },
  {
    type: 'http',
    name: 'closed',
    url: 'http://127.0.0.1:1/mcp',
    headers: [{ name: 'x-key', value: 'hidden' }],
  },
];

test('servers of the request that fail are notices and lines on stderr', async () => {
  const acp = await openAcp([text('one'), text('two')], { capabilities: { session: { notices: {} } } });
  const id = await acp.newSession({ mcpServers: FAILING });
  for (const prompt of ['one', 'two']) await acp.prompt(id, prompt);
  // On a busy machine, a server may also be reported as late at the end of a turn.
  const notices = acp.updatesOf('notice').filter((notice) => !/did not connect/.test(JSON.stringify(notice)));
  expect(notices).toHaveLength(2);
  expect(notices).toContainEqual(
    expect.objectContaining({
      severity: 'warning',
      description: expect.stringMatching(/^server gone: failed: /),
    }),
  );
  expect(notices).toContainEqual(
    expect.objectContaining({ description: expect.stringMatching(/^server closed: failed: .*ECONNREFUSED/) }),
  );
  expect(chunkText(acp.updates)).toBe('onetwo');
  await acp.end();
  expect(acp.stderr()).toMatch(/^server gone: failed: /m);
  expect(acp.stderr()).toMatch(/^server closed: failed: /m);
  expect(acp.stderr() + JSON.stringify(acp.updates)).not.toContain('hidden');
});

test('a client without notices gets failed servers as messages of a prompt', async () => {
  const acp = await openAcp([text('one'), text('two')]);
  const id = await acp.newSession({ mcpServers: FAILING.slice(0, 1) });
  for (const prompt of ['one', 'two']) await acp.prompt(id, prompt);
  expect(acp.updatesOf('notice')).toEqual([]);
  expect(chunkText(acp.updates).match(/server gone: failed: /g)).toHaveLength(1);
});

test('prompts of servers are slash commands before the first prompt', async () => {
  const { command, args = [] } = fixture();
  const acp = await openAcp([text('done'), text('done')]);
  const sessionId = await acp.newSession({ mcpServers: [{ name: 'calc', command, args, env: [] }] });
  const { availableCommands } = await acp.until('available_commands_update', (update) =>
    update.availableCommands.some(({ name }) => name === 'mcp__calc__greet'),
  );
  const greet = availableCommands.find(({ name }) => name === 'mcp__calc__greet');
  expect(greet).toMatchObject({ description: 'Greets', input: { hint: '<who> [mood]' } });
  await acp.prompt(sessionId, '/mcp__calc__greet Ada');
  expect(JSON.stringify((await acp.api.request(1)).messages)).toContain('Ada');
  const link = { type: 'resource_link' as const, name: 'b.txt', uri: 'file:///b.txt' };
  const prompt = [{ type: 'text' as const, text: '/mcp__calc__greet' }, link];
  await acp.agent.request(session.prompt, { sessionId, prompt });
  const last = JSON.stringify((await acp.api.request(2)).messages.at(-1));
  expect(last).toContain('b.txt');
  expect(last).not.toContain('/mcp__calc__greet');
});

test('MCP servers on http and sse get their headers', async () => {
  await using http = await startHttpServer('Bearer word');
  await using sse = await startSseServer();
  const acp = await openAcp([toolUse('mcp__web__add', { a: 2, b: 40 }), text('done')]);
  const headers = [{ name: 'Authorization', value: 'Bearer word' }];
  const sessionId = await acp.newSession({
    mcpServers: [
      { type: 'http', name: 'web', url: http.url, headers },
      { type: 'sse', name: 'old', url: sse.url, headers: [] },
    ],
  });
  expect(await acp.prompt(sessionId, 'go')).toBe('end_turn');
  expect(acp.updatesOf('tool_call_update').at(-1)).toMatchObject({ status: 'completed' });
  expect(sse.heard).toContain('POST /message');
});

test('a server asks the user through a client that can show forms', async () => {
  const asked: unknown[] = [];
  const acp = await openAcp([toolUse('mcp__asking__counts', {}), text('done')], {
    capabilities: { elicitation: { form: {} } },
    onElicitation: (request) => {
      asked.push(request);
      return { action: 'accept', content: { name: 'Ada' } };
    },
  });
  const args = [fileURLToPath(new URL('../../support/fixtures/asking-server.mjs', import.meta.url)), '1'];
  const server = { name: 'asking', command: process.execPath, args, env: [] };
  const sessionId = await acp.newSession({ mcpServers: [server] });
  await acp.prompt(sessionId, 'go');
  expect(asked).toMatchObject([{ mode: 'form', sessionId, message: 'asking: Form 0' }]);
  expect(JSON.stringify(acp.updatesOf('tool_call_update').at(-1))).toContain('accept');
});

test('a failed request to the model is an error of the prompt, and the session goes on', async () => {
  const acp = await openAcp((_, n) =>
    n === 1 ? error(401, 'bad key', 'authentication_error') : text('fine'),
  );
  const id = await acp.newSession();
  const message = expect.stringContaining('bad key');
  await expect(acp.prompt(id, 'go')).rejects.toMatchObject({ code: -32603, message });
  expect(chunkText(acp.updates)).toBe('');
  expect(await acp.prompt(id, 'again')).toBe('end_turn');
});

test('the process ends when the client disconnects', async () => {
  const acp = await openAcp([]);
  await acp.newSession();
  expect(await acp.end()).toBe(0);
});

/** Requests that must be refused, each with its error code. */
const REFUSED: [string, number, (acp: AcpClient, id: string) => Promise<unknown>][] = [
  [
    'a relative directory',
    -32602,
    ({ agent }) => agent.request(session.new, { cwd: 'here', mcpServers: [] }),
  ],
  [
    'a missing directory',
    -32602,
    ({ agent }) => agent.request(session.new, { cwd: '/no/such', mcpServers: [] }),
  ],
  ['parameters of the wrong type', -32602, ({ agent }) => agent.request('session/new', { cwd: 1 })],
  [
    'two servers with one name',
    -32602,
    ({ agent, cwd }) => {
      const server = { name: 'a', command: 'x', args: [], env: [] };
      return agent.request(session.new, { cwd, mcpServers: [server, server] });
    },
  ],
  ['an unknown session', -32002, (acp) => acp.prompt('nope', 'x')],
  [
    'a session id that is a path',
    -32002,
    ({ agent, cwd }) => agent.request(session.load, { sessionId: '../../x', cwd, mcpServers: [] }),
  ],
  [
    'an empty prompt',
    -32602,
    ({ agent }, sessionId) => agent.request(session.prompt, { sessionId, prompt: [] }),
  ],
  [
    'audio',
    -32602,
    ({ agent }, sessionId) =>
      agent.request(session.prompt, {
        sessionId,
        prompt: [{ type: 'audio', data: 'aa', mimeType: 'audio/wav' }],
      }),
  ],
  [
    'an image that is not base64',
    -32602,
    ({ agent }, sessionId) =>
      agent.request(session.prompt, {
        sessionId,
        prompt: [{ type: 'image', data: '\u0000', mimeType: 'image/png' }],
      }),
  ],
  ['an unknown method', -32601, ({ agent }) => agent.request('session/explode', {})],
  ['an authentication method', -32602, ({ agent }) => agent.request('authenticate', { methodId: 'x' })],
];

test('lines that are not requests are answered with errors', async () => {
  const child = startCli(['acp']);
  onTestFinished(() => void child.kill());
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answerTo = async (line: string): Promise<unknown> => {
    child.stdin.write(`${line}\n`);
    return JSON.parse(String((await answers.next()).value));
  };
  expect(await answerTo('no json')).toMatchObject({ id: null, error: { code: -32700 } });
  expect(await answerTo('[]')).toMatchObject({ id: null, error: { code: -32600 } });
  expect(await answerTo('"text"')).toMatchObject({ id: null, error: { code: -32600 } });
  const early = { jsonrpc: '2.0', id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } };
  expect(await answerTo(JSON.stringify(early))).toMatchObject({ id: 1, error: { code: -32600 } });
  const first = { jsonrpc: '2.0', id: 2, method: 'initialize', params: { protocolVersion: 1 } };
  expect(await answerTo(JSON.stringify(first))).toMatchObject({ id: 2, result: { protocolVersion: 1 } });
  const unset = await answerTo(JSON.stringify({ ...early, id: 3 }));
  expect(unset).toMatchObject({
    id: 3,
    error: { code: -32000, message: expect.stringContaining('ANTHROPIC_API_KEY') },
  });
});

test('invalid requests are JSON-RPC errors, and the session survives them', async () => {
  const acp = await openAcp([text('alive')]);
  const id = await acp.newSession();
  for (const [name, code, send] of REFUSED) {
    await expect(send(acp, id), name).rejects.toMatchObject({ code });
  }
  expect(await acp.prompt(id, 'hi')).toBe('end_turn');
});
