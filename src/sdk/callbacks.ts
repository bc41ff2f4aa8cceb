import type { HookInput, HookJSONOutput, McpServerProvenance } from '../protocol/hook.ts';
import type { PermissionResult, PermissionUpdate } from '../protocol/permission.ts';

/** Decides whether one tool call may run. `null` means the answer was given elsewhere; whatever else is no decision denies. */
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
    /** The tool is not what was accepted, and no rule allows it: whoever allows the call accepts it as it is now. Told by our own agent. */
    toolChange?: { server: string; tool: string };
  },
) => Promise<PermissionResult | null>;

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>;

export type HookCallbackMatcher = {
  /** A pattern over the tool's name; without one the hooks run for every event of their kind. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds the agent waits for each of these hooks. */
  timeout?: number;
  /** What a hook that fails does to the action it guards. */
  onFailure?: 'continue' | 'block';
};

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
export type ElicitationResult = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
};
/** Answers a server's question to the user; without it every question is declined. */
export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<ElicitationResult | null>;

export type UserDialogRequest = { dialogKind: string; payload: Record<string, unknown>; toolUseID?: string };
export type UserDialogResult = { behavior: 'completed'; result: unknown } | { behavior: 'cancelled' };
export type OnUserDialog = (
  request: UserDialogRequest,
  options: { signal: AbortSignal; requestId: string },
) => Promise<UserDialogResult | null>;

/** One tool use of the conversation with its result, whatever kind of server ran it (R59). */
export type ToolUse = {
  toolUseId: string;
  /** The name the model used. */
  name: string;
  input: unknown;
  /** The content of the result as the model was given it. */
  result: unknown;
  isError: boolean;
  parentToolUseId: string | null;
};
export type OnToolUse = (use: ToolUse) => void;
