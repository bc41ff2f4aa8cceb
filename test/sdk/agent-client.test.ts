import { expect, test } from 'vitest';
import type { SDKMessage } from '../../src/protocol/agent-message.ts';
import { AbortError } from '../../src/protocol/sdk-error.ts';
import { createAgentClient } from '../../src/sdk/agent-client.ts';
import { type AgentScript, scriptAgent } from '../../src/sdk/testing/agent-script.ts';
import { createSdkMcpServer } from '../../src/tool-server/sdk-server.ts';
import { tool } from '../../src/tool-server/tool.ts';
import { collect } from '../support/collect.ts';
import { fakeDeps, playClient } from './support/fake-deps.ts';

/** A script that answers this number of prompts, each with its own text. */
function echo(turns: number) {
  return async (agent: AgentScript): Promise<void> => {
    await agent.start();
    for (let n = 0; n < turns; n += 1) {
      const said = await agent.prompt();
      agent.assistant(`heard ${said}`);
      agent.result(said);
    }
  };
}
const results = (messages: readonly SDKMessage[]) =>
  messages.flatMap((it) => (it.type === 'result' && it.subtype === 'success' ? [it.result] : []));

test('the agent keeps running between turns; each turn ends with its own result (C36)', async () => {
  const { client, script, played } = await playClient(echo(3));
  const first = await collect(client.turn('one'));
  expect([first.map((it) => it.type), results(first)]).toEqual([['assistant', 'result'], ['one']]);
  expect(await client.ask('two')).toMatchObject({ result: 'two' });
  const message = {
    type: 'user' as const,
    message: { role: 'user' as const, content: 'three' },
    parent_tool_use_id: null,
  };
  expect(await client.ask(message)).toMatchObject({ result: 'three' });
  expect(script.agent.sent.at(-1)).toEqual(message);
  await client.close();
  await played;
});

test('a turn returns its result', async () => {
  const { client, played } = await playClient(echo(1));
  const turn = client.turn('one');
  await turn.next();
  await turn.next();
  expect(await turn.next()).toMatchObject({ done: true, value: { type: 'result', result: 'one' } });
  await client.close();
  await played;
});

test('await using closes the client', async () => {
  const agent = scriptAgent(echo(1));
  const open = createAgentClient(fakeDeps());
  const work = async () => {
    await using client = await open({ link: agent.link });
    await client.ask('one');
    throw new Error('inside');
  };
  await expect(work()).rejects.toThrow('inside');
  await agent.script.agent.ended();
  await agent.played;
});

test('a second concurrent turn is rejected, and the first continues', async () => {
  const { client, played } = await playClient(echo(1));
  const first = client.turn('one');
  await first.next();
  await expect(client.ask('two')).rejects.toMatchObject({ code: 'busy' });
  expect(await first.next()).toMatchObject({ value: { type: 'result', result: 'one' } });
  await first.next();
  await client.close();
  await played;
});

test('the result of an abandoned turn is not returned by the next one', async () => {
  const { client, played } = await playClient(echo(3));
  for await (const message of client.turn('one')) {
    expect(message.type).toBe('assistant');
    break;
  }
  expect(await client.ask('two')).toMatchObject({ result: 'two' });
  for await (const message of client.turn('three')) if (message.type === 'result') break;
  await client.close();
  await played;
});

test('a turn skips pending results of send()', async () => {
  const { client, played } = await playClient(echo(5));
  await client.send('one');
  const second = client.send('two');
  expect(await client.ask('three')).toMatchObject({ result: 'three' });
  await second;
  const turn = client.turn('four');
  await turn.next();
  await client.send('five');
  expect(results([...(await collect(turn))])).toEqual(['four']);
  for await (const message of client.messages()) if (message.type === 'result') break;
  await client.close();
  await played;
});

test('results read by messages() are no longer pending', async () => {
  const { client, played } = await playClient(echo(2));
  await client.send('one');
  for await (const message of client.messages()) if (message.type === 'result') break;
  expect(await client.ask('two')).toMatchObject({ result: 'two' });
  await client.close();
  await played;
});

test('a message that could not be sent, or starts no turn, has no pending result', async () => {
  const { client, script, played } = await playClient(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.result(await agent.prompt());
  });
  const note = (content: unknown, more = {}) => ({
    type: 'user' as const,
    message: { role: 'user' as const, content: content as string },
    parent_tool_use_id: null,
    ...more,
  });
  await expect(client.send(note(7n))).rejects.toMatchObject({ code: 'unsendable' });
  await client.send(note('for later', { shouldQuery: false }));
  await expect(client.ask(note('for later', { shouldQuery: false }))).rejects.toMatchObject({
    code: 'bad-option',
  });
  expect(await client.ask('one')).toMatchObject({ result: 'one' });
  expect(script.agent.sent).toHaveLength(3);
  await client.close();
  await played;
});

test('the empty result of a message that starts no turn is not the result of the next turn', async () => {
  const { client, played } = await playClient(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.result('', { num_turns: 0 });
    agent.result(await agent.prompt());
  });
  await client.send({
    type: 'user',
    message: { role: 'user', content: 'for later' },
    parent_tool_use_id: null,
    shouldQuery: false,
  });
  expect(await client.ask('one')).toMatchObject({ result: 'one' });
  await client.close();
  await played;
});

test('send() and messages() are the same conversation without turns', async () => {
  const { client, played } = await playClient(echo(2));
  await client.send('one');
  await client.send('two');
  const seen: SDKMessage[] = [];
  for await (const message of client.messages()) {
    seen.push(message);
    if (results(seen).length === 2) break;
  }
  expect(results(seen)).toEqual(['one', 'two']);
  await client.close();
  expect(await collect(client.messages())).toEqual([]);
  await played;
});

test('an interrupted turn has a result, and the next turn works', async () => {
  const { client, played } = await playClient(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.assistant('thinking');
    await agent.answer('interrupt', { still_queued: [] });
    agent.result('', { subtype: 'error_during_execution', is_error: true, errors: [] });
    agent.result(await agent.prompt());
  });
  const turn = client.turn('one');
  await turn.next();
  expect(await client.interrupt()).toEqual({ still_queued: [] });
  expect(await turn.next()).toMatchObject({ value: { subtype: 'error_during_execution' } });
  await turn.next();
  expect(await client.ask('two')).toMatchObject({ result: 'two' });
  await client.close();
  await played;
});

test('tools of this process are served in every turn', async () => {
  const counts: number[] = [];
  const count = tool('count', 'Counts', { type: 'object' }, () => counts.push(counts.length));
  const calc = createSdkMcpServer({ name: 'calc', tools: [count] });
  const { client, played } = await playClient(
    async (agent) => {
      await agent.start();
      for (let n = 1; n <= 2; n += 1) {
        await agent.prompt();
        expect(await agent.callTool('calc', 'count')).toEqual({
          content: [{ type: 'text', text: String(n) }],
        });
        agent.result('done');
      }
    },
    { mcpServers: { calc } },
  );
  await client.ask('one');
  await client.ask('two');
  await client.close();
  await played;
  expect(counts).toEqual([0, 1]);
});

test('an agent that exits during a turn rejects it with the exit error', async () => {
  const left = await playClient(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.agent.leave();
  });
  await expect(left.client.ask('one')).rejects.toMatchObject({
    code: 'process-exited',
    message: 'The agent ended before it sent a result',
  });
  const died = await playClient(async (agent) => {
    await agent.start();
    await agent.prompt();
    agent.agent.leave(new Error('out of memory'));
  });
  await expect(died.client.ask('one')).rejects.toThrow('out of memory');
  await expect(died.client.ask('two')).rejects.toThrow('out of memory');
});

test('open() rejects if the agent cannot start', async () => {
  const refusing = scriptAgent(async (it) => void (await it.answer('initialize', { error: 'not today' })));
  await expect(createAgentClient(fakeDeps())({ link: refusing.link })).rejects.toThrow('not today');
  await refusing.script.agent.ended();
  await expect(createAgentClient(fakeDeps())()).rejects.toMatchObject({ code: 'spawn-failed' });
  const abortController = new AbortController();
  const aborted = scriptAgent(async (it) => {
    await it.agent.take();
    abortController.abort();
  });
  const opening = createAgentClient(fakeDeps())({ link: aborted.link, abortController });
  await expect(opening).rejects.toThrow(AbortError);
});
