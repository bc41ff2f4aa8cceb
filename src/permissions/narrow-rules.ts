import type { PermissionRuleValue } from '../protocol/permission.ts';
import { literalStars } from './command-rules.ts';
import { patternOf, type Workspace } from './path.ts';
import { subjectOf } from './subject.ts';

/**
 * The rules of a built-in tool that allow these inputs, as narrow as rules can be: this command, this path. Adding the
 * folder of a file to the workspace instead would open its neighbours too, and in mode `acceptEdits` for writing.
 */
export function narrowRules(
  toolName: string,
  inputs: readonly Readonly<Record<string, unknown>>[],
  workspace: Workspace,
): PermissionRuleValue[] {
  const contents = inputs
    .flatMap((input) => subjectOf(toolName, input) ?? [])
    .map(({ kind, value }) => (kind === 'path' ? patternOf(value, workspace) : literalStars(value)));
  if (contents.length === 0) return [{ toolName }];
  return [...new Set(contents)].map((ruleContent) => ({ toolName, ruleContent }));
}
