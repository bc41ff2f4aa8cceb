import type { PermissionRuleValue, PermissionUpdate } from '../../protocol/permission.ts';
import { literalStars } from '../permission/match.ts';
import { isInWorkspace, isProtected, patternOf, type Workspace } from '../permission/path.ts';
import { editsFiles, subjectOf } from '../permission/subject.ts';
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
    ({ value }) => isInWorkspace(value, workspace) && !isProtected(value, workspace),
  );
}

/**
 * As narrow as a rule can be: this command, this path. Adding the folder of a file to the workspace instead would open
 * its neighbours too, and in mode `acceptEdits` for writing.
 */
function rulesFor(call: PoolCall, workspace: Workspace): PermissionRuleValue[] {
  const toolName = call.tool.name;
  const contents = subjects(call).map(({ kind, value }) =>
    kind === 'path' ? patternOf(value, workspace) : literalStars(value),
  );
  if (contents.length === 0) return [{ toolName }];
  return [...new Set(contents)].map((ruleContent) => ({ toolName, ruleContent }));
}

/** What the call is about, as it is and as it was written: it is decided on both. */
function subjects({ tool, input, written }: PoolCall) {
  if (tool.origin.kind !== 'builtin') return [];
  return [input, ...(written ? [written] : [])].flatMap((it) => subjectOf(tool.name, it) ?? []);
}
