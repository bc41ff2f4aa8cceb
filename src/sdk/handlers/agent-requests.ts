import { isRecord } from '../../base/json-value.ts';
import { NO_REPLY, type Reply, type ServedRequest } from '../../control/channel.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import type {
  CanUseTool,
  ElicitationRequest,
  OnElicitation,
  OnUserDialog,
  Options,
  UserDialogRequest,
} from '../options/options.ts';
import type { Bridge } from './bridge.ts';
import { type RegisteredHooks, runHook } from './hooks.ts';

/** The dependencies for serving requests of the agent. */
export type HandlerContext = {
  readonly bridge: Bridge;
  readonly hooks: RegisteredHooks;
  readonly options: Options;
};

type Serve = (context: HandlerContext, body: Frame, served: ServedRequest) => Reply | Promise<Reply>;

/** Handlers of the agent's requests by subtype; tool calls have two names (R46, C4). */
const REQUESTS: ReadonlyMap<string, Serve> = new Map<string, Serve>([
  ['mcp_message', ({ bridge }, body, served) => bridge.serve(body, served)],
  ['sdk_mcp_request', ({ bridge }, body, served) => bridge.serve(body, served)],
  ['can_use_tool', ({ options }, body, served) => askPermission(options.canUseTool, body, served)],
  ['hook_callback', ({ hooks }, body, served) => runHook(hooks, body, served.signal)],
  ['elicitation', ({ options }, body, served) => askElicitation(options.onElicitation, body, served)],
  ['request_user_dialog', ({ options }, body, served) => askDialog(options.onUserDialog, body, served)],
]);

/** Serves one request of the agent; an unknown one is refused by name. */
export function serveAgent(
  context: HandlerContext,
  subtype: string,
  body: Frame,
  served: ServedRequest,
): Reply | Promise<Reply> {
  const serve = REQUESTS.get(subtype);
  if (serve) return serve(context, body, served);
  throw new SdkError('control-failed', `Unsupported control request subtype: ${subtype}`, {
    errorCode: 'unsupported_request',
  });
}

/** The reply to send in place of one that is not serializable. */
export function replaceReply(
  { bridge }: HandlerContext,
  subtype: string,
  body: Frame,
  cause: unknown,
): Frame | undefined {
  return subtype === 'mcp_message' || subtype === 'sdk_mcp_request' ? bridge.replace(body, cause) : undefined;
}

/** Asks `canUseTool` about one call. Fails closed: without a callback or a valid decision, the call is denied. */
export async function askPermission(
  canUseTool: CanUseTool | undefined,
  body: Frame,
  served: ServedRequest,
): Promise<Reply> {
  if (!canUseTool) throw new Error('canUseTool callback is not provided.');
  const toolUseID = body.tool_use_id;
  const input = isRecord(body.input) ? body.input : {};
  const context = {
    ...pick(body, {
      suggestions: 'permission_suggestions',
      blockedPath: 'blocked_path',
      mcpServer: 'mcp_server',
      decisionReason: 'decision_reason',
      decisionReasonType: 'decision_reason_type',
      decisionReasonCode: 'decision_reason_code',
      title: 'title',
      displayName: 'display_name',
      description: 'description',
      defaultToNo: 'default_to_no',
      suppressAlwaysAllowRule: 'suppress_always_allow_rule',
      serverPolicyAskOnly: 'server_policy_ask_only',
      requiresUserInteraction: 'requires_user_interaction',
      plugin: 'plugin',
      serverPrompt: 'server_prompt',
      toolUseID: 'tool_use_id',
      agentID: 'agent_id',
      toolChange: 'tool_change',
      relayedTo: 'relayed_to',
    }),
    ...(isRecord(body.matched_ask_rule) && {
      matchedAskRule: pick(body.matched_ask_rule, {
        source: 'source',
        toolName: 'tool_name',
        ruleContent: 'rule_content',
      }),
    }),
    ...contextOf(served),
  } as Parameters<CanUseTool>[2];
  const decision: unknown = await canUseTool(String(body.tool_name), input, context);
  if (decision === null) return NO_REPLY;
  if (isDecision(decision)) return { ...decision, toolUseID };
  return {
    behavior: 'deny',
    message: 'canUseTool returned no decision: return { behavior: "allow" } or { behavior: "deny", message }',
    toolUseID,
  };
}

function isDecision(value: unknown): value is Frame {
  if (!isRecord(value)) return false;
  if (value.behavior === 'allow') return value.updatedInput === undefined || isRecord(value.updatedInput);
  // The agent reports a denial without a message.
  return value.behavior === 'deny';
}

/** Forwards a server's elicitation to the callback. Without a callback or a valid answer, it is declined. */
export async function askElicitation(
  onElicitation: OnElicitation | undefined,
  body: Frame,
  served: ServedRequest,
): Promise<Reply> {
  if (!onElicitation) return { action: 'decline' };
  const request = pick(body, {
    serverName: 'mcp_server_name',
    message: 'message',
    mode: 'mode',
    url: 'url',
    elicitationId: 'elicitation_id',
    requestedSchema: 'requested_schema',
    title: 'title',
    displayName: 'display_name',
    description: 'description',
  });
  const answer: unknown = await onElicitation(request as ElicitationRequest, contextOf(served));
  if (answer === null) return NO_REPLY;
  return isRecord(answer) && typeof answer.action === 'string' ? answer : { action: 'decline' };
}

/** Forwards a dialog to the callback. Without a callback or a valid answer, it is cancelled. */
export async function askDialog(
  onUserDialog: OnUserDialog | undefined,
  body: Frame,
  served: ServedRequest,
): Promise<Reply> {
  if (!onUserDialog) return { behavior: 'cancelled' };
  const request = pick(body, { dialogKind: 'dialog_kind', payload: 'payload', toolUseID: 'tool_use_id' });
  const answer: unknown = await onUserDialog(request as UserDialogRequest, contextOf(served));
  if (answer === null) return NO_REPLY;
  return isRecord(answer) && typeof answer.behavior === 'string' ? answer : { behavior: 'cancelled' };
}

function contextOf(served: ServedRequest): { signal: AbortSignal; requestId: string } {
  return { signal: served.signal, requestId: served.id };
}

/** Picks the named members and renames them; absent ones stay absent. */
function pick(body: Frame, members: Record<string, string>): Record<string, unknown> {
  const present = Object.entries(members).filter(([, member]) => body[member] !== undefined);
  return Object.fromEntries(present.map(([name, member]) => [name, body[member]]));
}
