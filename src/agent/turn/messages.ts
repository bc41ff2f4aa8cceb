import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { ReplyHead } from '../models/collect.ts';
import type { TurnEnd } from './worker.ts';

export type InitFacts = {
  readonly cwd: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly servers: readonly { name: string; status: string; source?: string }[];
  readonly permissionMode: PermissionMode;
  readonly version: string;
  readonly commands: readonly string[];
  readonly agents: readonly string[];
};

/** The start of a turn: what the agent has at hand. */
export function initMessage(facts: InitFacts): Frame {
  return {
    type: 'system',
    subtype: 'init',
    cwd: facts.cwd,
    tools: facts.tools,
    mcp_servers: facts.servers,
    model: facts.model,
    permissionMode: facts.permissionMode,
    slash_commands: facts.commands,
    apiKeySource: 'none',
    claude_code_version: facts.version,
    output_style: 'default',
    skills: [],
    plugins: [],
    agents: facts.agents,
  };
}

/** One block of a reply: programs get a message for each, as it is finished. */
export function assistantMessage(block: ModelBlock, reply: ReplyHead, parent: string | null): Frame {
  const { id, model, usage } = reply;
  const rest = { stop_reason: null, stop_sequence: null, usage };
  return {
    type: 'assistant',
    message: { id, type: 'message', role: 'assistant', model, content: [block], ...rest },
    parent_tool_use_id: parent,
  };
}

/** `told` is what a program may want of a result that the model was not given. */
export function resultsMessage(content: readonly UserBlock[], parent: string | null, told?: unknown): Frame {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: parent,
    ...(told !== undefined && { tool_use_result: told }),
  };
}

export type TurnFacts = TurnEnd & {
  /** The last text the model said. */
  readonly text: string;
  /** How the last reply ended. */
  readonly stopReason: string | null;
  readonly durationMs: number;
  /** Of that, how long models were waited for. */
  readonly modelMs: number;
  readonly modelUsage: Readonly<Record<string, Usage>>;
};

/** The end of a turn, in the subtypes the protocol has for it. */
export function resultMessage({ end, text, denials, ...facts }: TurnFacts): Frame {
  const common = {
    duration_ms: Math.round(facts.durationMs),
    duration_api_ms: Math.round(facts.modelMs),
    num_turns: end.turns,
    stop_reason: facts.stopReason,
    terminal_reason: TERMINAL[end.reason],
    total_cost_usd: 0,
    usage: end.usage,
    modelUsage: Object.fromEntries(
      Object.entries(facts.modelUsage).map(([name, usage]) => [name, usageOf(usage)]),
    ),
    permission_denials: denials,
  };
  switch (end.reason) {
    case 'done':
      return { type: 'result', subtype: 'success', is_error: false, result: text, ...common };
    case 'stopped':
      return { type: 'result', subtype: 'success', is_error: false, result: text || end.why, ...common };
    case 'max-turns':
      return failure('error_max_turns', `Reached maximum number of turns (${end.turns})`, common);
    case 'interrupted':
      return failure('error_during_execution', 'The turn was interrupted', common);
    case 'failed':
      return failure('error_during_execution', end.fault, common);
  }
}

const TERMINAL: Readonly<Record<TurnEnd['end']['reason'], string>> = {
  done: 'completed',
  stopped: 'hook_stopped',
  'max-turns': 'max_turns',
  interrupted: 'aborted_tools',
  failed: 'api_error',
};

function usageOf(usage: Usage): Frame {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadInputTokens: usage.cache_read_input_tokens ?? 0,
    cacheCreationInputTokens: usage.cache_creation_input_tokens ?? 0,
    webSearchRequests: 0,
    costUSD: 0,
    contextWindow: 0,
  };
}

function failure(subtype: string, text: string, common: Frame): Frame {
  return { type: 'result', subtype, is_error: true, errors: [text], ...common };
}
