import { expect, test } from 'vitest';
import { query } from '../../../src/entry/index.ts';
import { scriptAgent } from '../../../src/entry/testing.ts';
import { AgentScript } from '../../../src/sdk/testing/agent-script.ts';
import { createSdkMcpServer } from '../../../src/tool-server/sdk-server.ts';
import { tool } from '../../../src/tool-server/tool.ts';
import { collect } from '../../support/collect.ts';

const calc = createSdkMcpServer({
  name: 'calc',
  tools: [
    tool<{ a: number; b: number }>('add', 'Add', { type: 'object' }, ({ a, b }) => a + b),
    tool('id', 'Id', { type: 'object' }, (_, { toolUseId }) => toolUseId),
  ],
});

test('a tool is called through the whole channel and returns its result (R130)', async () => {
  const agent = scriptAgent(async (it) => {
    expect(await it.start({ models: [] })).toMatchObject({ subtype: 'initialize', sdkMcpServers: ['calc'] });
    expect(await it.prompt()).toBe('5 + 3?');
    const sum = await it.callTool('calc', 'add', { a: 5, b: 3 });
    it.assistant(`It is ${sum.content.map((block) => block.type === 'text' && block.text)}.`);
    it.result('8');
  });
  const messages = await collect(
    query({ prompt: '5 + 3?', options: { link: agent.link, mcpServers: { calc } } }),
  );
  await agent.played;
  expect(messages).toMatchObject([
    { type: 'assistant', message: { content: [{ text: 'It is 8.' }] } },
    { type: 'result', subtype: 'success', result: '8' },
  ]);
  expect(agent.script.launch?.argv).toContain('--verbose');
});

test('each call has a unique tool use id', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    const ids = [await it.callTool('calc', 'id'), await it.callTool('calc', 'id')].map(
      (result) => result.content,
    );
    expect(new Set(ids.map((content) => JSON.stringify(content))).size).toBe(2);
    it.result('done');
  });
  await collect(query({ prompt: 'x', options: { link: agent.link, mcpServers: { calc } } }));
  await agent.played;
});

test('a prompt of blocks is returned as text', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    expect(await it.prompt()).toBe('one two');
    it.result('done');
  });
  async function* input() {
    const content = [
      { type: 'text' as const, text: 'one ' },
      { type: 'image' as const, source: { type: 'url' as const, url: 'http://127.0.0.1/' } },
      { type: 'text' as const, text: 'two' },
    ];
    yield { type: 'user' as const, message: { role: 'user' as const, content }, parent_tool_use_id: null };
  }
  await collect(query({ prompt: input(), options: { link: agent.link } }));
  await agent.played;
});

test('a protocol error of a call is thrown; a failed tool is a result', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    await expect(it.callTool('ghost', 'x')).rejects.toMatchObject({
      code: 'control-failed',
      message: "Server 'ghost' not found",
    });
    expect(await it.callTool('calc', 'nope')).toMatchObject({ isError: true });
    it.result('done');
  });
  await collect(query({ prompt: 'x', options: { link: agent.link, mcpServers: { calc } } }));
  await agent.played;
});

test('a mismatch with the script fails both sides and shows the frame', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.answer('interrupt');
  });
  await expect(collect(query({ prompt: 'x', options: { link: agent.link } }))).rejects.toThrow(
    'The program sent',
  );
  await expect(agent.played).rejects.toMatchObject({
    code: 'script-mismatch',
    message: expect.stringMatching(/^The program sent \{"type":"user".*; expected \{.*"subtype":"interrupt"/),
  });
});

test('a pending step of the script fails when the program ends', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    it.result('done');
    await it.prompt();
  });
  await collect(query({ prompt: 'x', options: { link: agent.link } })).catch(() => {});
  await expect(agent.played).rejects.toMatchObject({
    code: 'script-mismatch',
    message: 'The program ended; expected {"type":"user"}',
  });
});

test('concurrent scripts are independent', async () => {
  const run = async (name: string) => {
    const agent = scriptAgent(async (it) => {
      await it.start();
      it.result(await it.prompt());
    });
    const messages = await collect(query({ prompt: name, options: { link: agent.link } }));
    await agent.played;
    return messages;
  };
  expect(await Promise.all([run('one'), run('two')])).toMatchObject([
    [{ result: 'one' }],
    [{ result: 'two' }],
  ]);
});

test('finish() waits for the program to end its input, then closes', async () => {
  const script = new AgentScript();
  const finished = script.finish();
  const { frames } = script.options.link({ argv: [], cwd: undefined, env: {} });
  script.agent.link.end();
  await finished;
  expect(await collect(frames)).toEqual([]);
});

const busy = () =>
  createSdkMcpServer({
    name: 'busy',
    logging: true,
    tools: [
      tool('steps', 'Tells how far it is', { type: 'object' }, (_, ctx) => {
        ctx.progress(1, { total: 2 });
        ctx.log('warning', 'slow');
        return ctx.toolUseId;
      }),
    ],
  });

test('progress and log notifications do not interfere with calls and prompts', async () => {
  const server = busy();
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    expect(await it.callTool('busy', 'steps')).toEqual({ content: [{ type: 'text', text: 'toolu_1' }] });
    expect(await it.callTool('busy', 'steps')).toEqual({ content: [{ type: 'text', text: 'toolu_2' }] });
    server.add(tool('more', 'More', {}, () => 1));
    expect(await it.notification('notifications/tools/list_changed')).toMatchObject({ server: 'busy' });
    it.result('done');
  });
  await collect(query({ prompt: 'x', options: { link: agent.link, mcpServers: { busy: server } } }));
  await agent.played;
  expect(agent.script.notifications.map(({ method }) => method)).toEqual([
    'notifications/progress',
    'notifications/message',
    'notifications/progress',
    'notifications/message',
    'notifications/tools/list_changed',
  ]);
  expect(agent.script.notifications[0]).toEqual({
    server: 'busy',
    method: 'notifications/progress',
    params: { progressToken: 1, progress: 1, total: 2 },
  });
});

test('concurrent calls and requests get their own responses', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    const permission = { tool_name: 'Bash', input: {}, tool_use_id: 'toolu_9' };
    const [first, second, decision] = await Promise.all([
      it.callTool('calc', 'add', { a: 1, b: 1 }),
      it.callTool('calc', 'add', { a: 2, b: 2 }),
      it.ask({ subtype: 'can_use_tool', ...permission }),
    ]);
    expect([first, second].map(({ content }) => content)).toEqual([
      [{ type: 'text', text: '2' }],
      [{ type: 'text', text: '4' }],
    ]);
    expect(decision).toMatchObject({ behavior: 'deny', message: 'no' });
    it.result('done');
  });
  const canUseTool = async () => ({ behavior: 'deny' as const, message: 'no' });
  await collect(query({ prompt: 'x', options: { link: agent.link, mcpServers: { calc }, canUseTool } }));
  await agent.played;
});

test('a script without a result fails both sides', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    it.assistant('Hello.');
  });
  const fault = {
    code: 'script-mismatch',
    message: 'The script ended without a result for the prompt "hi": end the turn with result()',
  };
  await expect(collect(query({ prompt: 'hi', options: { link: agent.link } }))).rejects.toMatchObject(fault);
  await expect(agent.played).rejects.toMatchObject(fault);
});

test('a result sent as a raw frame ends the turn too', async () => {
  const agent = scriptAgent(async (it) => {
    await it.start();
    await it.prompt();
    it.agent.emit({ type: 'result', subtype: 'error_max_turns', is_error: true, errors: [] });
  });
  await collect(query({ prompt: 'hi', options: { link: agent.link } })).catch(() => {});
  await agent.played;
});

test('a script that throws synchronously fails both sides, not its creator', async () => {
  const agent = scriptAgent(() => {
    throw new Error('broken script');
  });
  await expect(collect(query({ prompt: 'hi', options: { link: agent.link } }))).rejects.toThrow();
  await expect(agent.played).rejects.toThrow('broken script');
});
