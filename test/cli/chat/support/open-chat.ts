import { onTestFinished } from 'vitest';
import { Chat } from '../../../../src/cli/chat/chat.ts';
import type { Frame } from '../../../../src/protocol/control-frame.ts';
import { createAgentClient } from '../../../../src/sdk/agent-client.ts';
import type { Options } from '../../../../src/sdk/options/options.ts';
import { AgentScript } from '../../../../src/sdk/testing/agent-script.ts';
import { fakeDeps } from '../../../sdk/support/fake-deps.ts';
import { FakeTerminal } from '../../support/fake-terminal.ts';

/** Opens a chat on test streams with a scripted agent; resolves at the first prompt. */
export async function openChat(
  options: Options = {},
  terminal = new FakeTerminal(),
  initial: { readonly mode?: string; readonly model?: string; readonly models?: readonly Frame[] } = {},
): Promise<{
  terminal: FakeTerminal;
  agent: AgentScript;
  agents: AgentScript[];
  left: Promise<number>;
  chat: Chat;
}> {
  const agents: AgentScript[] = [];
  const isLive = terminal.isInteractive && !terminal.isPlain;
  /** A chat with a live area asks for the model. */
  const begin = async (agent: AgentScript, answer: Frame = {}) => {
    await agent.start(answer);
    if (isLive) await agent.answer('get_context_usage', { model: initial.model ?? '' });
  };
  const open = createAgentClient(fakeDeps());
  const chat = new Chat(terminal, (given) => {
    const agent = new AgentScript();
    agents.push(agent);
    // /clear opens a second agent.
    if (agents.length > 1) begin(agent).catch(() => {});
    return open({ ...given, ...agent.options });
  });
  onTestFinished(() => chat[Symbol.asyncDispose]());
  const left = chat.run(options);
  left.catch(() => {});
  const [agent] = agents;
  if (!agent) throw new Error('the chat opened no agent');
  const commands = ['clear', 'compact', 'mcp__docs__summary'].map((name) => ({ name }));
  const { mode, models = [{ value: 'opus' }] } = initial;
  const state = mode === undefined ? {} : { current_permission_mode: mode };
  await begin(agent, { commands, models, ...state });
  terminal.interrupt = () => chat.interrupt();
  if (terminal.isPlain) await terminal.until('› ');
  else if (terminal.isInteractive) await terminal.prompt();
  return { terminal, agent, agents, left, chat };
}

const SESSION = { session_id: 's', uuid: 'u' };

/** The model calls a tool. */
export function toolUse(id: string, name: string, input: Frame = {}): Frame {
  const content = [{ type: 'tool_use', id, name, input }];
  const message = {
    id: `msg-${id}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: null,
  };
  return { type: 'assistant', message, parent_tool_use_id: null, ...SESSION };
}

export function toolResult(id: string, content: string, more: Frame = {}): Frame {
  const block = { type: 'tool_result', tool_use_id: id, content, ...more };
  return { type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null, ...SESSION };
}

/** A streamed piece of the model's text. */
export function delta(text: string): Frame {
  const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
  return { type: 'stream_event', event, parent_tool_use_id: null, ...SESSION };
}

export function messageStart(id: string): Frame {
  return {
    type: 'stream_event',
    event: { type: 'message_start', message: { id } },
    parent_tool_use_id: null,
    ...SESSION,
  };
}

export function system(subtype: string, more: Frame = {}): Frame {
  return { type: 'system', subtype, ...SESSION, ...more };
}
