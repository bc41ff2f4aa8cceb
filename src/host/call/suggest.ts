import type { PermissionUpdate } from '../../protocol/permission.ts';
import { editsFiles, subjectOf } from '../permission/subject.ts';
import type { PoolCall } from './pool-call.ts';

/** What "always allow" would change for a call like this; nothing if it has to be asked about every time. */
export function suggest({ tool, input }: PoolCall): PermissionUpdate[] {
  if (tool.listed._meta?.['anthropic/requiresUserInteraction'] === true) return [];
  if (tool.origin.kind === 'builtin' && editsFiles(tool.name)) {
    return [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
  }
  const subject = tool.origin.kind === 'builtin' ? subjectOf(tool.name, input) : undefined;
  const ruleContent = subject?.kind === 'path' ? undefined : subject?.value;
  const rule = { toolName: tool.name, ...(ruleContent !== undefined && { ruleContent }) };
  return [{ type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' }];
}
