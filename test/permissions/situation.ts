import type { Situation } from '../../src/permissions/decide.ts';
import type { ToolCall } from '../../src/permissions/match.ts';
import { parseRule, type Rule, type RuleSource } from '../../src/permissions/rule.ts';
import { mcpToolName } from '../../src/protocol/tool-name.ts';

export const WORKSPACE = { cwd: '/w', home: '/home/me', directories: ['/extra'] };

/** Parses a rule; throws if the rule is invalid. */
export function rule(text: string, effect: Rule['effect'], source: RuleSource = 'session'): Rule {
  const parsed = parseRule(text, effect, source);
  if (!parsed.ok) throw new Error(parsed.diagnostic.message);
  return parsed.rule;
}

/** A call of an MCP tool under its full name, or under an alias. */
export function mcpCall(server: string, tool: string, name = mcpToolName(server, tool)): ToolCall {
  return { name, server, tool, input: {} };
}

export const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command } });
export const file = (name: string, path: string): ToolCall => ({ name, input: { file_path: path } });

/** A situation without rules and annotations, in mode `default`. */
export function situation(call: ToolCall, changes: Partial<Situation> = {}): Situation {
  return {
    call,
    rules: [],
    mode: 'default',
    bypassLaunched: false,
    trusted: call.server === undefined,
    workspace: WORKSPACE,
    ...changes,
  };
}
