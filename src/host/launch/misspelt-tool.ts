import { nearest } from '../../base/nearest.ts';
import { BUILT_INS } from '../builtin/table.ts';
import { type Rule, ruleText } from '../permission/rule.ts';

/** What to tell about a rule whose tool nobody knows; nothing if it is known here or elsewhere, or is a server's. */
export function misspeltTool(rule: Rule): string | undefined {
  const { tool } = rule;
  if (tool === '*' || tool.startsWith('mcp__') || OURS.includes(tool) || ELSEWHERE.has(tool))
    return undefined;
  const guess = nearest(tool, OURS);
  const told = `rule "${ruleText(rule)}" is about no tool there is`;
  return guess === undefined ? told : `${told}; did you mean "${guess}"?`;
}

const OURS = BUILT_INS.map(({ listed }) => listed.name);

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
