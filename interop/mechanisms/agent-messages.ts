import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';
import { taskMessages } from '../task-messages.ts';

const send = (to: string, message: string) => toolUse('SendMessage', { to, message, summary: 'a note' });

/** The replies of the lead, one after the other; the agent and the turn that follows it answer by their prompts. */
const LEAD = [
  toolUse('Agent', {
    description: 'dig',
    prompt: 'Dig.',
    subagent_type: 'worker',
    name: 'digger',
    run_in_background: false,
  }),
  send('stranger', 'Hello.'),
  send('main', 'Hello me.'),
  toolUse('ListAgents', {}, 'first'),
  send('digger', 'Dig deeper.'),
  text('Sent.'),
];

export const script = (request: MessagesRequest) => {
  const said = JSON.stringify(request.messages);
  if (said.includes('task-notification'))
    return said.includes('"id":"last"') ? text('It is deep now.') : toolUse('ListAgents', {}, 'last');
  if (said.includes('Dig deeper.') && !said.includes('Lead.')) return text('Deeper.');
  if (!said.includes('Lead.')) return text('A hole.');
  return LEAD[said.split('"type":"tool_result"').length - 1] ?? text('Nothing.');
};

/**
 * Messages to an agent that has ended, to an unknown one and to the lead itself, and the lists of agents. The end of the
 * agent may come in the turn of the lead or after it.
 */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const seen: unknown[] = [];
  const reduce = taskMessages();
  const query = sdk.query({
    prompt: 'Lead.',
    options: {
      ...options(sandbox),
      tools: ['Agent', 'SendMessage', 'ListAgents'],
      agents: { worker: { description: 'Works', prompt: 'You work.' } },
    },
  });
  const results: unknown[] = [];
  for await (const message of query) {
    const known = reduce(message);
    if (known !== undefined && message.type !== 'result') seen.push(known);
    if (message.type !== 'user' || message.tool_use_result === undefined) continue;
    if (message.parent_tool_use_id !== null) continue;
    const [block] = message.message.content as { tool_use_id?: string }[];
    const result = withoutIds(message.tool_use_result);
    results.push(block?.tool_use_id === 'first' ? { listedAfterForeground: result } : result);
  }
  return { seen, results };
}

/** Ids and times are random, and the texts of the lists differ. */
function withoutIds(result: unknown): unknown {
  const { status, success, message, resumedAgentId, sections } = result as {
    [name: string]: unknown;
    sections?: { kind: string; rows: { name: string; type: string; status: string }[] }[];
  };
  const listed = sections?.map(({ kind, rows }) => [
    kind,
    ...rows.map(({ name, type, status: state }) => [name, type, state]),
  ]);
  return { status, success, message, isResumed: typeof resumedAgentId === 'string', listed };
}
