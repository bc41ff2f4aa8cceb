import { narrowRules } from '../../permissions/narrow-rules.ts';
import { isInWorkspace, type Workspace } from '../../permissions/path.ts';
import { isProtectedPath } from '../../permissions/protected-path.ts';
import { editsFiles, subjectOf } from '../../permissions/subject.ts';
import type { PermissionRuleValue, PermissionUpdate } from '../../protocol/permission.ts';
import type { PoolCall } from './pool-call.ts';

/**
 * What "always allow" would change for a call like this; nothing if it has to be asked about every time. A rule goes to
 * `destination`; a mode is for the session, since it is about more than this call.
 */
export function suggest(
  call: PoolCall,
  workspace: Workspace,
  destination: 'localSettings' | 'session' = 'session',
): PermissionUpdate[] {
  const { tool } = call;
  if (tool.listed._meta?.['anthropic/requiresUserInteraction'] === true) return [];
  if (tool.origin.kind === 'builtin' && editsFiles(tool.name) && isOrdinary(call, workspace)) {
    return [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
  }
  return [{ type: 'addRules', rules: rulesFor(call, workspace), behavior: 'allow', destination }];
}

/** Whether mode `acceptEdits` would allow the edit. */
function isOrdinary(call: PoolCall, workspace: Workspace): boolean {
  return subjects(call).every(
    ({ value }) => isInWorkspace(value, workspace) && !isProtectedPath(value, workspace),
  );
}

/** A server's tool has no subject that rules could name. */
function rulesFor(call: PoolCall, workspace: Workspace): PermissionRuleValue[] {
  const { tool } = call;
  return tool.origin.kind === 'builtin'
    ? narrowRules(tool.name, inputs(call), workspace)
    : [{ toolName: tool.name }];
}

function subjects(call: PoolCall) {
  return inputs(call).flatMap((it) => subjectOf(call.tool.name, it) ?? []);
}

/** The input as it is and as it was written: it is decided on both. */
function inputs({ input, written }: PoolCall): PoolCall['input'][] {
  return [input, ...(written ? [written] : [])];
}
