import { methods } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { chunkText, delivered, openAcp } from '../../cli/support/acp-client.ts';
import { text, toolUse } from '../../support/model-api/model-reply.ts';
import { toolResults } from '../../support/model-api/model-view.ts';
import { findCli } from '../../support/real-cli.ts';

const { session } = methods.agent;

/** The variables with which the `claude` CLI makes no requests but those to the model. */
const QUIET = {
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Updates whose number and content depend on the agent. */
const OF_THE_AGENT = new Set(['available_commands_update', 'usage_update', 'session_info_update']);

/** A session of an editor: a prompt, a call that is allowed, and the session loaded again. */
async function observe(args: string[]) {
  const acp = await openAcp(
    (request) =>
      toolResults(request).length > 0
        ? text('Written.')
        : toolUse('Write', { file_path: 'a.txt', content: 'a' }),
    { args, env: QUIET },
  );
  const kinds = (from: number) =>
    acp.updates.slice(from).flatMap(({ sessionUpdate: kind }) => (OF_THE_AGENT.has(kind) ? [] : [kind]));
  const id = await acp.newSession();
  const stopReason = await acp.prompt(id, 'Write a.txt');
  const { length } = acp.updates;
  await acp.agent.request(session.close, { sessionId: id });
  await acp.agent.request(session.load, { sessionId: id, cwd: acp.cwd, mcpServers: [] });
  await delivered();
  const { sessions } = await acp.agent.request(session.list, { cwd: acp.cwd });
  const calls = acp.updatesOf('tool_call_update').filter(({ status }) => status === 'completed');
  return {
    stopReason,
    live: kinds(0).slice(0, kinds(0).length - kinds(length).length),
    replayed: kinds(length),
    // The agent decides whether a rule can allow the call always.
    asked: acp.permissions.map(({ toolCall }) => toolCall.kind),
    completed: calls.length,
    text: chunkText(acp.updates),
    titles: sessions.map(({ title }) => title),
  };
}

test('an editor observes the same session with the claude CLI and with our own agent', async () => {
  const [own, cli] = [await observe([]), await observe(['--agent-executable', findCli()])];
  expect(own).toEqual(cli);
  expect(own).toMatchObject({ stopReason: 'end_turn', completed: 2, titles: ['Write a.txt'] });
});
