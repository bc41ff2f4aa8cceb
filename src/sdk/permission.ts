import { isRecord } from '../base/is-record.ts';
import { NO_REPLY, type Reply, type ServedRequest } from '../control/channel.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { CanUseTool } from './callbacks.ts';

/** Asks the person's callback about one call. Fails closed: without a callback, or with an answer that is none, the call is denied. */
export async function askPermission(
  canUseTool: CanUseTool | undefined,
  body: Frame,
  served: ServedRequest,
): Promise<Reply> {
  if (!canUseTool) throw new Error('canUseTool callback is not provided.');
  const toolUseID = body.tool_use_id;
  const input = isRecord(body.input) ? body.input : {};
  const context = permissionContext(body, served) as Parameters<CanUseTool>[2];
  const decision: unknown = await canUseTool(String(body.tool_name), input, context);
  if (decision === null) return NO_REPLY;
  if (isDecision(decision)) return { ...decision, toolUseID };
  const denial = isRecord(decision) && decision.behavior === 'deny' ? decision : {};
  return {
    ...denial,
    behavior: 'deny',
    message: 'canUseTool returned no decision: return { behavior: "allow" } or { behavior: "deny", message }',
    toolUseID,
  };
}

/** The members people know, in camel case; absent ones stay absent. */
function permissionContext(body: Frame, served: ServedRequest): Record<string, unknown> {
  const context: Record<string, unknown> = { signal: served.signal };
  for (const [name, member] of MEMBERS) {
    if (body[member] !== undefined) context[name] = body[member];
  }
  context.requestId = served.id;
  return context;
}

const MEMBERS: readonly (readonly [string, string])[] = [
  ['suggestions', 'permission_suggestions'],
  ['blockedPath', 'blocked_path'],
  ['mcpServer', 'mcp_server'],
  ['decisionReason', 'decision_reason'],
  ['title', 'title'],
  ['displayName', 'display_name'],
  ['description', 'description'],
  ['defaultToNo', 'default_to_no'],
  ['suppressAlwaysAllowRule', 'suppress_always_allow_rule'],
  ['serverPolicyAskOnly', 'server_policy_ask_only'],
  ['toolUseID', 'tool_use_id'],
  ['agentID', 'agent_id'],
  ['matchedAskRule', 'matched_ask_rule'],
  ['toolChange', 'tool_change'],
];

function isDecision(value: unknown): value is Frame {
  if (!isRecord(value)) return false;
  if (value.behavior === 'allow') return value.updatedInput === undefined || isRecord(value.updatedInput);
  return value.behavior === 'deny' && typeof value.message === 'string';
}
