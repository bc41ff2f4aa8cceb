import type { Rule } from '../../../permissions/rule.ts';
import type { EffortLevel } from '../../../protocol/system-message.ts';
import type { ToolOutcome } from '../../loop/run-calls.ts';
import type { ProtocolMessage } from './team-service.ts';

/** What the `Agent` tool asks for. */
export type AgentRequest = {
  /** The id of the call. */
  readonly toolUseId: string;
  readonly description: string;
  readonly prompt: string;
  readonly type: string;
  /** A name for messages to the agent. */
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly effort?: EffortLevel | undefined;
  readonly isBackground: boolean;
  /** The skill that runs in the agent, and what it allows the agent. */
  readonly skill?: { readonly name: string; readonly rules: readonly Rule[] };
  /** Whether the agent works in a git worktree of its own. */
  readonly isIsolated: boolean;
  /** Whether a teammate begins in mode `plan`; otherwise its definition or the session decides. */
  readonly mode?: 'plan' | undefined;
};

/** The result of `SendMessage`, as programs get it. */
export type SentMessage = {
  readonly success: boolean;
  readonly message: string;
  /** Set if the message has woken an agent that had ended. */
  readonly resumedAgentId?: string;
  readonly pin?: { readonly id: string; readonly name: string; readonly ref: string };
};

/** One agent in the result of `ListAgents`. */
export type AgentRow = {
  readonly name: string;
  readonly ref: string;
  readonly id: string;
  readonly type: string;
  readonly status: AgentStatus;
  readonly startedAt: number;
};

export type AgentStatus = 'running' | 'completed' | 'failed' | 'killed';

/** The sub-agents of a session, as the tools of one agent use them. */
export type AgentService = {
  /** Starts an agent. In the foreground the outcome is its report, in the background its id. */
  start(request: AgentRequest, signal: AbortSignal): Promise<ToolOutcome>;
  /** Sends a text to a running agent, to the main conversation, or to an agent that has ended, which continues then. */
  send(to: string, text: string, toolUseId: string, protocol?: ProtocolMessage): SentMessage;
  list(): readonly AgentRow[];
  /** The id of the agent with this id or name. */
  idOf(name: string): string | undefined;
};
