import type {
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
} from '@agentclientprotocol/sdk/unstable';
import type { PermissionResult } from '../../protocol/permission.ts';
import type { CanUseTool } from '../../sdk/options/options.ts';
import { alwaysUpdates, whatAlways } from '../chat/questions/permission.ts';
import { approvalContent, type CallPlace, describeToolCall, textContent } from './tool-call.ts';

/** The question whether a call may run, for the client. */
type PermissionRequest = {
  readonly params: Omit<RequestPermissionRequest, 'sessionId'>;
  /** Reads the answer. Every answer but a selected "allow" denies the call; a cancelled one also ends the turn. */
  resultOf(outcome: RequestPermissionOutcome): PermissionResult;
};

/** Describes a call and the answers that the user can select. */
export function permissionRequest(
  tool: string,
  input: Record<string, unknown>,
  context: Parameters<CanUseTool>[2],
  place: CallPlace,
): PermissionRequest {
  const { toolUseID: toolCallId, decisionReason: reason } = context;
  const always = alwaysUpdates({ tool, context });
  const view = describeToolCall(tool, input, place);
  const content = [
    ...approvalContent(tool, input, view),
    ...(reason ? [textContent(`Approval required: ${reason}`)] : []),
  ];
  return {
    params: {
      toolCall: { toolCallId, name: tool, ...view, content, status: 'pending', rawInput: input },
      options: permissionOptions(always && whatAlways(always), context),
    },
    resultOf(outcome) {
      if (outcome.outcome === 'cancelled') return { behavior: 'deny', message: CANCELLED, interrupt: true };
      if (outcome.optionId === ALLOW.optionId) return { behavior: 'allow' };
      return outcome.optionId === ALWAYS && always
        ? { behavior: 'allow', updatedPermissions: always }
        : { behavior: 'deny', message: REJECTED };
    },
  };
}

const ALLOW: PermissionOption = { optionId: 'allow', name: 'Allow once', kind: 'allow_once' };
const ALWAYS = 'allow-always';
const REJECT: PermissionOption = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };
const REJECTED = 'The user denied the call.';
const CANCELLED = 'The user cancelled the prompt.';

function permissionOptions(
  always: string | undefined,
  { toolChange }: Pick<Parameters<CanUseTool>[2], 'toolChange'>,
): PermissionOption[] {
  const once = toolChange ? { ...ALLOW, name: 'Allow, and accept the changed definition' } : ALLOW;
  if (always === undefined) return [once, REJECT];
  return [once, { optionId: ALWAYS, name: `Always ${always}`, kind: 'allow_always' }, REJECT];
}
