import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  AgentClient,
  createSdkMcpServer,
  type HookInput,
  query,
  type SDKUserMessage,
  tool,
  toolServer,
} from '../../../src/entry/index.ts';
import { collect } from '../../support/collect.ts';
import { gate } from '../../support/gate.ts';
import { text, toolUse } from '../../support/model-api/model-reply.ts';
import { latestTexts, offeredTools, toolResults } from '../../support/model-api/model-view.ts';
import { openCliSandbox } from '../../support/real-cli.ts';
import { realAgent, results } from './real-agent.ts';

// Every test starts a real agent, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const user = (content: string): SDKUserMessage => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
});

test('an interrupt aborts the running handler, ends the turn, and leaves the next one whole', async () => {
  await using world = await openCliSandbox([
    toolUse('mcp__slow__wait', {}),
    toolUse('mcp__slow__quick', {}),
    text('Quick.'),
  ]);
  const started = gate();
  const stopped = Promise.withResolvers<string>();
  const slow = toolServer('slow')
    .tool('wait', 'Waits', {}, async (_, { signal }) => {
      started.open();
      await started.pass();
      await once(signal, 'abort');
      stopped.resolve(signal.reason.name);
      return 'too late';
    })
    .tool('quick', 'Is quick', {}, () => 'done');
  await using client = await AgentClient.open(
    realAgent(world, { mcpServers: { slow }, allowedTools: ['mcp__slow'] }),
  );
  const first = client.ask('Wait.');
  await started.reached;
  await client.interrupt();
  expect(await stopped.promise).toBe('AbortError');
  expect(await first).toMatchObject({ type: 'result', is_error: true });
  expect(await client.ask('Be quick.')).toMatchObject({ subtype: 'success', result: 'Quick.' });
  expect(toolResults(world.api.requests.at(-1))).toMatchObject([
    { isError: false, content: [{ text: 'done' }] },
  ]);
});

test('canUseTool: a denial is read by the model, a changed input is what the handler gets, no callback runs nothing', async () => {
  await using world = await openCliSandbox([
    toolUse('mcp__mail__send', { to: 'them' }),
    toolUse('mcp__mail__send', { to: 'me' }),
    text('Sent once.'),
  ]);
  const sent: unknown[] = [];
  const asked: unknown[] = [];
  const mail = toolServer('mail').tool('send', 'Sends', { to: z.string() }, (args) => {
    sent.push(args);
    return 'sent';
  });
  const options = realAgent(world, {
    mcpServers: { mail },
    canUseTool: async (name, input, { toolUseID, mcpServer, signal }) => {
      asked.push({ name, input, toolUseID, mcpServer, isAborted: signal.aborted });
      if (input.to === 'them') return { behavior: 'deny', message: 'not to them' };
      return { behavior: 'allow', updatedInput: { to: 'someone else' } };
    },
  });
  expect(results(await collect(query({ prompt: 'Send.', options })))).toEqual(['Sent once.']);
  const provenance = { name: 'mail', source: 'sdk' };
  expect(asked).toEqual([
    {
      name: 'mcp__mail__send',
      input: { to: 'them' },
      toolUseID: 'toolu_0001_0',
      mcpServer: provenance,
      isAborted: false,
    },
    {
      name: 'mcp__mail__send',
      input: { to: 'me' },
      toolUseID: 'toolu_0002_0',
      mcpServer: provenance,
      isAborted: false,
    },
  ]);
  expect(sent).toEqual([{ to: 'someone else' }]);
  expect(toolResults(world.api.requests[1])).toEqual([
    { id: 'toolu_0001_0', isError: true, content: 'not to them' },
  ]);
});

test('an invalid callback result and a tool without permission: neither runs', async () => {
  for (const canUseTool of [async () => 'yes' as never, undefined]) {
    await using world = await openCliSandbox([toolUse('mcp__mail__send', {}), text('Not sent.')]);
    let isSent = false;
    const mail = toolServer('mail').tool('send', 'Sends', {}, () => {
      isSent = true;
    });
    const options = realAgent(world, { mcpServers: { mail }, ...(canUseTool && { canUseTool }) });
    await collect(query({ prompt: 'Send.', options }));
    expect([isSent, toolResults(world.api.requests[1])]).toMatchObject([false, [{ isError: true }]]);
  }
});

test('hooks: one stops a call, one changes its input, one sees its result and changes what the model reads', async () => {
  await using world = await openCliSandbox([
    toolUse('mcp__s__t', { n: 1 }),
    toolUse('mcp__s__t', { n: 2 }),
    text('Done.'),
  ]);
  const ran: unknown[] = [];
  const hooked: unknown[] = [];
  const s = toolServer('s').tool('t', 'T', { n: z.number() }, (args) => {
    ran.push(args);
    return 'plain';
  });
  const note = (input: HookInput, toolUseID: string | undefined) => {
    if (input.hook_event_name === 'PreToolUse')
      hooked.push([input.hook_event_name, input.tool_input, toolUseID]);
    if (input.hook_event_name === 'PostToolUse')
      hooked.push([input.hook_event_name, input.tool_input, toolUseID]);
  };
  const options = realAgent(world, {
    mcpServers: { s },
    allowedTools: ['mcp__s'],
    hooks: {
      PreToolUse: [
        {
          matcher: 'mcp__s__.*',
          hooks: [
            async (input, toolUseID) => {
              note(input, toolUseID);
              const { n } = (input as { tool_input: { n: number } }).tool_input;
              return {
                hookSpecificOutput:
                  n === 1
                    ? {
                        hookEventName: 'PreToolUse',
                        permissionDecision: 'deny',
                        permissionDecisionReason: 'not one',
                      }
                    : { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { n: 20 } },
              };
            },
          ],
        },
      ],
      PostToolUse: [
        {
          hooks: [
            async (input, toolUseID) => {
              note(input, toolUseID);
              const updatedMCPToolOutput = [{ type: 'text', text: 'replaced' }];
              return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput } };
            },
          ],
        },
      ],
    },
  });
  expect(results(await collect(query({ prompt: 'Go.', options })))).toEqual(['Done.']);
  expect(ran).toEqual([{ n: 20 }]);
  expect(hooked).toEqual([
    ['PreToolUse', { n: 1 }, 'toolu_0001_0'],
    ['PreToolUse', { n: 2 }, 'toolu_0002_0'],
    ['PostToolUse', { n: 20 }, 'toolu_0002_0'],
  ]);
  expect(toolResults(world.api.requests[1])).toMatchObject([
    { isError: true, content: expect.stringContaining('not one') },
  ]);
  expect(toolResults(world.api.requests[2])).toMatchObject([
    { isError: false, content: [{ text: 'replaced' }] },
  ]);
});

test('setMcpServers between two turns: the new tools are called, the old ones are gone', async () => {
  await using world = await openCliSandbox([
    text('Nothing yet.'),
    toolUse('mcp__late__hello', {}),
    text('Called.'),
  ]);
  const make = (name: string) => toolServer(name).tool('hello', 'Greets', {}, () => `hello from ${name}`);
  const options = realAgent(world, {
    mcpServers: { early: make('early') },
    allowedTools: ['mcp__early', 'mcp__late'],
  });
  await using client = await AgentClient.open(options);
  await client.ask('Hello?');
  expect(await client.setMcpServers({ late: make('late') })).toEqual({
    added: ['late'],
    removed: ['early'],
    errors: {},
  });
  await client.ask('And now?');
  expect((await client.mcpServerStatus()).map(({ name, status }) => ({ name, status }))).toEqual([
    { name: 'late', status: 'connected' },
  ]);
  expect(world.api.requests.map((request) => offeredTools(request).map((it) => it.name))).toEqual([
    ['mcp__early__hello'],
    ['mcp__late__hello'],
    ['mcp__late__hello'],
  ]);
  expect(toolResults(world.api.requests[2])).toMatchObject([{ content: [{ text: 'hello from late' }] }]);
});

test('a tool added between two turns is offered and called in the next; one removed is gone from the server (R79)', async () => {
  await using world = await openCliSandbox([text('One.'), toolUse('mcp__live__new', {}), text('Two.')]);
  const live = createSdkMcpServer({ name: 'live', tools: [tool('old', 'Old', {}, () => 'old')] });
  await using client = await AgentClient.open(
    realAgent(world, { mcpServers: { live }, allowedTools: ['mcp__live'] }),
  );
  await client.ask('First.');
  live.add(tool('new', 'New', {}, () => 'brand new'));
  live.remove('old');
  await client.ask('Second.');
  expect(offeredTools(world.api.requests[0]).map((it) => it.name)).toEqual(['mcp__live__old']);
  expect(offeredTools(world.api.requests[1]).map((it) => it.name)).toContain('mcp__live__new');
  expect(toolResults(world.api.requests[2])).toMatchObject([{ content: [{ text: 'brand new' }] }]);
  const [status] = await client.mcpServerStatus();
  expect(status?.tools?.map((it) => it.name)).toEqual(['new']);
});

/** What the model says to a first message, and to a second one that needs a tool. */
function twoMessages() {
  return openCliSandbox((request) => {
    if (toolResults(request).length > 0) return text('Second done.');
    return latestTexts(request).some((it) => it.includes('second'))
      ? toolUse('mcp__s__t', {})
      : text('First done.');
  });
}

test('two messages streamed back to back: the tool of the second is still served', async () => {
  await using world = await twoMessages();
  const calls: string[] = [];
  const s = toolServer('s').tool('t', 'T', {}, () => calls.push('called'));
  async function* input() {
    yield user('first');
    yield user('second');
  }
  const options = realAgent(world, { mcpServers: { s }, allowedTools: ['mcp__s'] });
  expect(results(await collect(query({ prompt: input(), options })))).toEqual([
    'First done.',
    'Second done.',
  ]);
  expect(calls).toEqual(['called']);
});

test('a message sent as the turn before it ends: the input is not closed before it is read', async () => {
  await using world = await twoMessages();
  const calls: string[] = [];
  const s = toolServer('s').tool('t', 'T', {}, () => calls.push('called'));
  const answered = Promise.withResolvers<void>();
  async function* input() {
    yield user('first');
    await answered.promise;
    yield user('second');
  }
  const options = realAgent(world, { mcpServers: { s }, allowedTools: ['mcp__s'] });
  const ends: string[] = [];
  for await (const message of query({ prompt: input(), options })) {
    if (message.type === 'assistant') answered.resolve();
    ends.push(...results([message]));
  }
  expect(ends).toEqual(['First done.', 'Second done.']);
  expect(calls).toEqual(['called']);
});

test('a message taken into a running turn: one result, and the query ends', async () => {
  await using world = await openCliSandbox([toolUse('mcp__s__t', {}), text('Both done.')]);
  const [started, second] = [gate(), gate()];
  const s = toolServer('s').tool('t', 'T', {}, async () => {
    started.open();
    await second.pass();
  });
  async function* input() {
    yield user('first');
    await started.pass();
    yield user('second');
    second.open();
  }
  const options = realAgent(world, { mcpServers: { s }, allowedTools: ['mcp__s'] });
  const ends = results(await collect(query({ prompt: input(), options })));
  expect(ends[0]).toBe('Both done.');
});
