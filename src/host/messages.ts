import { randomUUID } from 'node:crypto';
import type { Usage, UserBlock } from '../protocol/agent-message.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { LoopEnd } from './agent/loop.ts';
import type { CollectedMessage } from './model/collect.ts';

/** What every message of a session carries. */
export type Envelope = { readonly session_id: string };

export type InitFacts = {
  readonly cwd: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly servers: readonly { name: string; status: string; source?: string }[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
};

/** The start of a turn: what the agent has at hand. */
export function initMessage(facts: InitFacts, envelope: Envelope): Frame {
  return {
    type: 'system',
    subtype: 'init',
    cwd: facts.cwd,
    ...envelope,
    tools: facts.tools,
    mcp_servers: facts.servers,
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: [],
    apiKeySource: 'none',
    claude_code_version: facts.version,
    output_style: 'default',
    skills: [],
    plugins: [],
    agents: [],
    uuid: randomUUID(),
  };
}

export function assistantMessage(reply: CollectedMessage, envelope: Envelope): Frame {
  const { id, model, content, stop_reason, stop_sequence, usage } = reply;
  return {
    type: 'assistant',
    message: { id, type: 'message', role: 'assistant', model, content, stop_reason, stop_sequence, usage },
    parent_tool_use_id: null,
    ...envelope,
    uuid: randomUUID(),
  };
}

export function resultsMessage(content: readonly UserBlock[], envelope: Envelope): Frame {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    ...envelope,
    uuid: randomUUID(),
  };
}

export type TurnFacts = {
  readonly end:
    | LoopEnd
    | { readonly reason: 'failed'; readonly fault: string; readonly usage: Usage; readonly turns: number };
  /** The last text the model said. */
  readonly text: string;
  readonly durationMs: number;
  readonly denials: readonly { tool_name: string; tool_use_id: string; tool_input: unknown }[];
};

/** The end of a turn, in the subtypes the protocol has for it. */
export function resultMessage({ end, text, durationMs, denials }: TurnFacts, envelope: Envelope): Frame {
  const common = {
    duration_ms: Math.round(durationMs),
    duration_api_ms: Math.round(durationMs),
    num_turns: end.turns,
    stop_reason: end.reason === 'done' ? 'end_turn' : null,
    total_cost_usd: 0,
    usage: end.usage,
    modelUsage: {},
    permission_denials: denials,
    ...envelope,
    uuid: randomUUID(),
  };
  switch (end.reason) {
    case 'done':
      return { type: 'result', subtype: 'success', is_error: false, result: text, ...common };
    case 'max-turns':
      return failure('error_max_turns', `Reached maximum number of turns (${end.turns})`, common);
    case 'interrupted':
      return failure('error_during_execution', 'The turn was interrupted', common);
    case 'failed':
      return failure('error_during_execution', end.fault, common);
  }
}

function failure(subtype: string, text: string, common: Frame): Frame {
  return { type: 'result', subtype, is_error: true, errors: [text], ...common };
}
