import type { PermissionUpdate } from '../protocol/permission.ts';

/** The rules of these changes as `--allowedTools` takes them: `mcp__docs__search`, `Bash(git log:*)`. */
export function ruleTexts(updates: readonly PermissionUpdate[]): string[] {
  return updates.flatMap((update) =>
    'rules' in update
      ? update.rules.map(({ toolName, ruleContent }) =>
          ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
        )
      : [],
  );
}
