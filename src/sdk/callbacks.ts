import type { HookInput, HookJSONOutput, McpServerProvenance } from '../protocol/hook.ts';
import type { PermissionResult, PermissionUpdate } from '../protocol/permission.ts';

/**
 * Decides whether one tool call may run. `null` means that the answer is given elsewhere; any other malformed value
 * denies the call.
 */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    signal: AbortSignal;
    suggestions?: PermissionUpdate[];
    blockedPath?: string;
    mcpServer?: McpServerProvenance;
    decisionReason?: string;
    title?: string;
    displayName?: string;
    description?: string;
    defaultToNo?: boolean;
    suppressAlwaysAllowRule?: boolean;
    serverPolicyAskOnly?: boolean;
    toolUseID: string;
    agentID?: string;
    requestId: string;
    matchedAskRule?: { source: string; toolName: string; ruleContent?: string };
    /**
     * The tool's definition changed since it was accepted, and no rule allows it. Allowing the call accepts the new
     * definition. Only Toolplane's agent sends this.
     */
    toolChange?: { server: string; tool: string };
  },
) => Promise<PermissionResult | null>;

/** A hook that runs in this program. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

/** Hooks for one event, restricted to tools whose name matches. */
export type HookCallbackMatcher = {
  /** A pattern for the tool's name. Without it, the hooks run for every event of their kind. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds the agent waits for each of these hooks. */
  timeout?: number;
  /** What happens to the action when a hook fails. */
  onFailure?: 'continue' | 'block';
};

/** A server's request for input from the user. */
export type ElicitationRequest = {
  serverName: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitationId?: string;
  requestedSchema?: Record<string, unknown>;
  title?: string;
  displayName?: string;
  description?: string;
};
/** The answer to an elicitation request. */
export type ElicitationResult = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
};
/** Answers elicitation requests of servers. Without it, every request is declined. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitationResult | null>;

/** A dialog that the agent asks the program to show. */
export type UserDialogRequest = { dialogKind: string; payload: Record<string, unknown>; toolUseID?: string };
/** The answer to a dialog request. */
export type UserDialogResult = { behavior: 'completed'; result: unknown } | { behavior: 'cancelled' };
/** Answers dialog requests of the agent. */
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;

/** One tool use with its result (R59). */
export type ToolUse = {
  toolUseId: string;
  /** The name the model used. */
  name: string;
  input: unknown;
  /** The content of the result as the model received it. */
  result: unknown;
  isError: boolean;
  parentToolUseId: string | null;
};
/** Receives every tool use with its result. */
export type OnToolUse = (use: ToolUse) => void;
