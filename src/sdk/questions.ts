import { isRecord } from '../base/is-record.ts';
import { NO_REPLY, type Reply, type ServedRequest } from '../control/channel.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { ElicitationRequest, OnElicitation, OnUserDialog, UserDialogRequest } from './callbacks.ts';

/** A server's question to the user. Nobody to ask, or no answer, is a decline. */
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

/** A dialog the agent wants shown. Nobody to show it, or no answer, cancels it. */
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

/** The members named, under our names; absent ones stay absent. */
function pick(body: Frame, members: Record<string, string>): Record<string, unknown> {
  const present = Object.entries(members).filter(([, member]) => body[member] !== undefined);
  return Object.fromEntries(present.map(([name, member]) => [name, body[member]]));
}
