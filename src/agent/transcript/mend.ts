import type { ModelBlock, UserBlock } from '../../protocol/agent-message.ts';
import { joinTurns } from '../loop/compact-join.ts';
import { INTERRUPTED } from '../loop/run-calls.ts';
import { failedOutcome, resultBlock } from '../loop/tool-call.ts';
import type { ModelMessage } from '../models/model.ts';

/** A conversation that a model accepts, and in words what had to be done for it. */
export type Mended = { readonly messages: ModelMessage[]; readonly faults: readonly string[] };

type ToolUse = Extract<ModelBlock, { type: 'tool_use' }>;

const GAP: UserBlock = { type: 'text', text: '[What was said here is lost.]' };

/**
 * Makes what was left of a conversation one that a model accepts: turns alternate, the first is a user's, every call has
 * its result and every result its call. A call without one may have run: the process died in the middle.
 */
export function mend(messages: readonly ModelMessage[]): Mended {
  const mended: ModelMessage[] = [];
  const faults: string[] = [];
  const open = () => callsOf(mended.at(-1));

  const close = (given: readonly UserBlock[]) => {
    const results = given.filter((block) => block.type === 'tool_result');
    const calls = open();
    const answers = calls.map((call) => {
      const found = results.find(({ tool_use_id }) => tool_use_id === call.id);
      if (!found) faults.push(`the call ${call.id} of ${call.name} has no result`);
      return found ?? resultBlock(call, failedOutcome(INTERRUPTED));
    });
    for (const result of results) {
      if (!answers.includes(result)) faults.push(`a result for ${result.tool_use_id} answers no call`);
    }
    return [...answers, ...given.filter(({ type }) => type !== 'tool_result')];
  };

  for (const message of joinTurns(messages.filter(({ content }) => content.length > 0))) {
    if (message.role === 'user') {
      const content = close(message.content);
      if (content.length > 0) mended.push({ role: 'user', content });
      continue;
    }
    if (mended.at(-1)?.role !== 'user') {
      const answers = close([]);
      if (answers.length === 0) faults.push('a turn of the user is missing');
      mended.push({ role: 'user', content: answers.length > 0 ? answers : [GAP] });
    }
    mended.push(message);
  }
  if (open().length > 0) mended.push({ role: 'user', content: close([]) });
  return { messages: mended, faults };
}

function callsOf(message: ModelMessage | undefined): ToolUse[] {
  if (message?.role !== 'assistant') return [];
  return message.content.filter((block) => block.type === 'tool_use');
}
