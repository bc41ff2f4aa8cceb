import type { Server } from '../../mcp/servers/server-status.ts';
import type { CertainEffect } from '../../permissions/commands/command-effect.ts';
import type { ToolCall } from '../../permissions/match.ts';
import type { PathLink } from '../../permissions/path.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { McpServerProvenance } from '../../protocol/hook.ts';
import type { EffortLevel } from '../../protocol/system-message.ts';
import type { BuiltIn } from '../builtins/built-in.ts';

/** A call of a tool in the pool: the call that rules match, with what the session knows about its tool. */
export type PoolCall = ToolCall & {
  /** The id of the model's `tool_use`. */
  readonly id: string;
  /** The tool as the model sees it and as its server lists it. */
  readonly definition: PooledTool;
  /** The input before its paths were resolved, if resolving changed it: rules may name a path either way. */
  readonly originalInput?: ToolCall['input'];
  /** The links that the paths of rules lead through, resolved together with the path of the call. */
  readonly links?: readonly PathLink[];
  /** The implementation, for a built-in tool. */
  readonly builtIn?: BuiltIn;
  /** Whether the server's entry is marked as trusted; built-in tools always are. */
  readonly isTrusted: boolean;
  /** The server that the permission was decided for; the call is sent to no other. */
  readonly boundServer?: Server;
  /** What the shell command of this call certainly does at most. */
  readonly effect?: CertainEffect;
  /** Why this call may have side effects although its tool is marked read-only. */
  readonly doubt?: string;
  /** Whether a person was asked about the call and allowed it. */
  readonly isApproved?: true;
  /** Where an MCP tool comes from, for hooks and permission prompts. */
  readonly provenance?: McpServerProvenance;
};

/**
 * The input members that tell hooks which agent calls; empty for the lead. `cwd` is set if the agent works in a
 * worktree of its own.
 */
export type AgentIdentity = {
  readonly agent_id?: string;
  readonly agent_type?: string;
  readonly cwd?: string;
};

/** The members of hook inputs that describe an agent at work. */
export function agentFields({
  agent,
  session,
}: AgentContext): AgentIdentity & { effort?: { level: EffortLevel } } {
  const level = session.effortOf(agent.modelName(), agent.effort);
  return { ...agent.identity, ...(level && { effort: { level } }) };
}

type AgentContext = {
  readonly agent: {
    readonly identity: AgentIdentity;
    readonly effort?: EffortLevel | undefined;
    modelName(): string;
  };
  readonly session: { effortOf(model: string, requested?: EffortLevel): EffortLevel | undefined };
};

/** The members of hook inputs that describe a call. */
export function hookFields({ name, input, provenance }: PoolCall): {
  tool_name: string;
  tool_input: unknown;
  mcp_server?: McpServerProvenance;
} {
  return { tool_name: name, tool_input: input, ...(provenance && { mcp_server: provenance }) };
}

/** The tool's own title, or its name as words: `send_mail` becomes `Send mail`. */
export function displayName({ definition }: Pick<PoolCall, 'definition'>): string {
  const { title, annotations, name } = definition.listed;
  const ownTitle = title ?? annotations?.title;
  if (ownTitle) return ownTitle;
  const spaced = name.replace(/[_-]+/g, ' ').trim() || name;
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
