import type { Server } from '../../mcp/servers/server-status.ts';
import type { ToolCall as RuleCall } from '../../permissions/match.ts';
import type { PathLink } from '../../permissions/path.ts';
import type { PooledTool } from '../../pool/pool.ts';
import type { McpServerProvenance } from '../../protocol/hook.ts';
import type { BuiltIn } from '../builtins/built-in.ts';

/** One call of a tool that is in the pool. */
export type PoolCall = {
  readonly id: string;
  readonly tool: PooledTool;
  readonly input: Readonly<Record<string, unknown>>;
  /** The input before its paths were resolved, if that changed it: rules may name a path either way. */
  readonly written?: Readonly<Record<string, unknown>>;
  /** Where the paths that rules name lead, looked up when the path of the call was. */
  readonly links?: readonly PathLink[];
  /** The tool itself, if it is one of ours. */
  readonly builtIn?: BuiltIn;
  /** Whether a person vouched for where it comes from. */
  readonly isTrusted: boolean;
  /** The server that it is decided on for, once that is there: no other gets it. */
  readonly at?: Server;
  /** Why this call is not known to only read, though its tool is. */
  readonly doubt?: string;
  /** Where an MCP tool comes from, as hooks and people are told. */
  readonly provenance?: McpServerProvenance;
};

/** Which agent calls, as hooks are told; the lead says nothing. */
export type Who = { readonly agent_id?: string; readonly agent_type?: string };

/** The call as rules know it. */
export function ruleCall({ tool }: PoolCall, input: PoolCall['input']): RuleCall {
  const { origin, name } = tool;
  return origin.kind === 'mcp' ? { name, server: origin.server, tool: origin.tool, input } : { name, input };
}

/** What hooks are told of a call. */
export function toolFields({ tool, input, provenance }: PoolCall): {
  tool_name: string;
  tool_input: unknown;
  mcp_server?: McpServerProvenance;
} {
  return { tool_name: tool.name, tool_input: input, ...(provenance && { mcp_server: provenance }) };
}

/** What people read: the title a tool gave itself, or its own name in words, `send_mail` as `Send mail`. */
export function displayName({ tool }: Pick<PoolCall, 'tool'>): string {
  const { title, annotations, name } = tool.listed;
  const own = title ?? annotations?.title;
  if (own) return own;
  const words = name.replace(/[_-]+/g, ' ').trim() || name;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
