import type { ListedTool } from '../protocol/mcp.ts';
import type { PermissionRuleValue, PermissionUpdate } from '../protocol/permission.ts';
import type { CertainEffect } from './commands/command-effect.ts';
import { subcommandPrefix } from './commands/command-prefix.ts';
import type { ToolCall } from './match.ts';
import { isInWorkspace, isProtectedPath, patternOf, type Workspace } from './path.ts';
import { literalStars } from './rule.ts';
import { editsFiles, ruleToolOf, subjectOf } from './subject.ts';

/** A call with what suggestions depend on besides rules. */
type SuggestableCall = ToolCall & {
  readonly definition: { readonly listed: Pick<ListedTool, '_meta'> };
  /** The input before its paths were resolved, if resolving changed it. */
  readonly originalInput?: ToolCall['input'];
  /** What a command certainly does. */
  readonly effect?: CertainEffect | undefined;
};

/**
 * The updates that "always allow" would make for a call like this; none if the tool requires a person every time. A rule
 * is saved to `destination`; a mode is set for the session only, since it allows more than this call.
 */
export function suggestUpdates(
  call: SuggestableCall,
  workspace: Workspace,
  destination: 'localSettings' | 'session' = 'session',
): PermissionUpdate[] {
  if (call.definition.listed._meta?.['anthropic/requiresUserInteraction'] === true) return [];
  if (call.server === undefined && editsFiles(call.name) && isAcceptedEdit(call, workspace)) {
    return [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
  }
  const { command } = call.input;
  const prefix = call.name === 'Bash' && typeof command === 'string' ? subcommandPrefix(command) : undefined;
  if (call.server === undefined && prefix !== undefined) {
    const rules = [{ toolName: 'Bash', ruleContent: `${prefix} *` }];
    return [{ type: 'addRules', rules, behavior: 'allow', destination }];
  }
  const updates = rulesFor(call, workspace).flatMap((rule) => [rule, ...broaderRules(rule)]);
  if (call.effect === 'edits') {
    return [
      { type: 'addRules', rules: updates, behavior: 'allow', destination },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    ];
  }
  return call.name === 'Skill'
    ? updates.map((rule) => ({ type: 'addRules', rules: [rule], behavior: 'allow', destination }))
    : [{ type: 'addRules', rules: updates, behavior: 'allow', destination }];
}

/**
 * The narrowest rules of a built-in tool that allow these inputs: this command, this path. Adding the directory of a file
 * to the workspace instead would also allow its other files, and in mode `acceptEdits` writing to them.
 */
export function narrowRules(
  toolName: string,
  inputs: readonly ToolCall['input'][],
  workspace: Workspace,
): PermissionRuleValue[] {
  const contents = inputs
    .flatMap((input) => subjectOf(toolName, input) ?? [])
    .map(({ kind, value }) => (kind === 'path' ? patternOf(value, workspace) : literalStars(value)));
  const ruleTool = ruleToolOf(toolName);
  if (contents.length === 0) return [{ toolName: ruleTool }];
  return [...new Set(contents)].map((ruleContent) => ({ toolName: ruleTool, ruleContent }));
}

/** A skill is allowed by its name, or with any arguments. */
function broaderRules({ toolName, ruleContent }: PermissionRuleValue): PermissionRuleValue[] {
  return toolName === 'Skill' && ruleContent !== undefined
    ? [{ toolName, ruleContent: `${ruleContent}:*` }]
    : [];
}

/** Whether mode `acceptEdits` would allow the edit. */
function isAcceptedEdit(call: SuggestableCall, workspace: Workspace): boolean {
  return inputs(call)
    .flatMap((input) => subjectOf(call.name, input) ?? [])
    .every(({ value }) => isInWorkspace(value, workspace) && !isProtectedPath(value, workspace));
}

/** Rules about a server's tool have no content, only the tool's name. */
function rulesFor(call: SuggestableCall, workspace: Workspace): PermissionRuleValue[] {
  return call.server === undefined
    ? narrowRules(call.name, inputs(call), workspace)
    : [{ toolName: call.name }];
}

/** The resolved input and the original one: the decision covers both. */
function inputs({ input, originalInput }: SuggestableCall): ToolCall['input'][] {
  return [input, ...(originalInput ? [originalInput] : [])];
}
