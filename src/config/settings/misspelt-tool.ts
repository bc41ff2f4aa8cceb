import { nearest } from '../../base/nearest.ts';
import { type Rule, ruleText } from '../../permissions/rule.ts';

/** What to tell about a rule whose tool nobody knows; nothing if it is known here or elsewhere, or is a server's. */
export function misspeltTool(rule: Rule): string | undefined {
  const { tool } = rule;
  if (tool === '*' || tool.startsWith('mcp__') || BUILT_IN_TOOLS.includes(tool) || ELSEWHERE.has(tool))
    return undefined;
  const guess = nearest(tool, BUILT_IN_TOOLS);
  const told = `rule "${ruleText(rule)}" is about no tool there is`;
  return guess === undefined ? told : `${told}; did you mean "${guess}"?`;
}

/** The built-in tools by name: settings are read where the tools themselves are not known yet. */
export const BUILT_IN_TOOLS: readonly string[] = [
  'Bash',
  'Edit',
  'Glob',
  'Grep',
  'ListMcpResourcesTool',
  'Read',
  'ReadMcpResourceTool',
  'Sleep',
  'Task',
  'ToolSearch',
  'Write',
  'connect_mcp',
];

/** Tools of other agents: rules written for those are no mistake, they only have nothing to be about here. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'Agent',
  'AskUserQuestion',
  'BashOutput',
  'EnterPlanMode',
  'ExitPlanMode',
  'KillBash',
  'KillShell',
  'LS',
  'LSP',
  'ListMcpResources',
  'ListMcpResourcesTool',
  'MultiEdit',
  'NotebookEdit',
  'NotebookRead',
  'PowerShell',
  'ReadMcpResource',
  'ReadMcpResourceTool',
  'SendMessage',
  'Skill',
  'SlashCommand',
  'StructuredOutput',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TaskUpdate',
  'TodoRead',
  'TodoWrite',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
]);
