import { isRecord } from '../base/json-value.ts';
import { matchesWildcard } from '../base/text/patterns.ts';
import type { Server } from '../mcp/servers/server-status.ts';
import type { PermissionBehavior, PermissionRuleValue } from '../protocol/permission.ts';
import { currentToolName, hasServerWildcard, isMcpToolName, writtenToolName } from '../protocol/tool-name.ts';
import { contentFault, subjectKind } from './subject.ts';

/** The source of a rule; `serverPolicy` is the `tools` member of a server entry. */
export type RuleSource =
  | 'cliArg'
  | 'session'
  | 'localSettings'
  | 'projectSettings'
  | 'userSettings'
  | 'policySettings'
  | 'serverPolicy';

/** A permission rule; without `content` it applies to the whole tool. */
export type Rule = {
  readonly tool: string;
  readonly content?: string;
  readonly effect: PermissionBehavior;
  readonly source: RuleSource;
};

/** An invalid rule; the caller decides whether to continue without it. */
export type RuleDiagnostic = {
  readonly code: 'RULE_SYNTAX' | 'RULE_TAKES_NO_PATTERN' | 'RULE_TOO_WIDE';
  readonly text: string;
  readonly effect: PermissionBehavior;
  readonly source: RuleSource;
  readonly message: string;
};

/** A rule, or why it is invalid. */
type ParsedRule =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly diagnostic: RuleDiagnostic };

/** Parses `Tool`, `Tool(content)`, `mcp__server`, `mcp__server__*`, `mcp__server__tool` and `mcp__*`; never throws. */
export function parseRule(text: string, effect: PermissionBehavior, source: RuleSource): ParsedRule {
  const found = /^([^()]*)(?:\((.*)\))?$/s.exec(text.trim());
  const toolName = found?.[1]?.trim() ?? '';
  if (toolName === '') {
    const message = `rule ${JSON.stringify(text)} is invalid; write "Tool" or "Tool(pattern)"`;
    return { ok: false, diagnostic: { code: 'RULE_SYNTAX', text, effect, source, message } };
  }
  const ruleContent = found?.[2];
  return ruleOf({ toolName, ...(ruleContent !== undefined && { ruleContent }) }, effect, source);
}

/** Validates a rule that is given in two parts, as in permission updates. */
export function ruleOf(
  value: PermissionRuleValue,
  effect: PermissionBehavior,
  source: RuleSource,
): ParsedRule {
  const tool = currentToolName(value.toolName.trim());
  const content = value.ruleContent?.trim();
  const text = content === undefined ? tool : `${tool}(${content})`;
  const fault = (code: RuleDiagnostic['code'], message: string): ParsedRule => ({
    ok: false,
    diagnostic: { code, text, effect, source, message },
  });
  if (tool === '' || (isMcpToolName(tool) ? /[()]/ : /[()\s,]/).test(tool)) {
    return fault(
      'RULE_SYNTAX',
      `rule ${JSON.stringify(text)} has no valid tool name; write "Tool" or "Tool(pattern)"`,
    );
  }
  if (tool === 'mcp__') {
    return fault('RULE_SYNTAX', `rule "${text}" does not name a server; write mcp__<server>`);
  }
  if (tool.includes('*') && tool !== '*' && !isMcpToolName(tool)) {
    return fault('RULE_SYNTAX', `rule "${text}": "*" is only supported in names that begin with mcp__`);
  }
  if (effect === 'allow' && (tool === '*' || hasServerWildcard(tool)) && tool !== 'mcp__*') {
    return fault('RULE_TOO_WIDE', `rule "${text}" would allow tools of any server; write mcp__<server>__*`);
  }
  if (content === undefined || content === '' || content === '*') {
    return { ok: true, rule: { tool, effect, source } };
  }
  if (subjectKind(tool) === undefined) {
    return fault(
      'RULE_TAKES_NO_PATTERN',
      `rule "${text}": ${tool} does not support a pattern; write "${tool}"`,
    );
  }
  const wrongContent = contentFault(tool, content);
  if (wrongContent !== undefined) return fault('RULE_SYNTAX', `rule "${text}": ${wrongContent}`);
  return { ok: true, rule: { tool, content, effect, source } };
}

/** The rule in the syntax of settings. */
export function ruleText(rule: Pick<Rule, 'tool' | 'content'>): string {
  return rule.content === undefined ? rule.tool : `${rule.tool}(${rule.content})`;
}

/** The rules in the `tools` members of server entries; invalid policies are ignored. */
export function policyRules(servers: ReadonlyMap<string, Pick<Server, 'entry'>>): Rule[] {
  return [...servers].flatMap(([server, { entry }]) => {
    const policies: unknown = 'tools' in entry ? entry.tools : undefined;
    return (Array.isArray(policies) ? policies : []).flatMap((policy: unknown) => policyRule(server, policy));
  });
}

function policyRule(server: string, policy: unknown): Rule[] {
  if (!isRecord(policy) || typeof policy.name !== 'string') return [];
  const effects = [POLICIES.get(policy.permission_policy), LIMITS.get(policy.org_max_permission)];
  const effect = BY_STRICTNESS.find((it) => effects.includes(it));
  return effect ? [{ tool: writtenToolName(server, policy.name), effect, source: 'serverPolicy' }] : [];
}

const BY_STRICTNESS = ['deny', 'ask', 'allow'] as const;

const POLICIES: ReadonlyMap<unknown, Rule['effect']> = new Map([
  ['always_allow', 'allow'],
  ['always_ask', 'ask'],
  ['always_deny', 'deny'],
]);

/** `org_max_permission`: the most that the organization allows. */
const LIMITS: ReadonlyMap<unknown, Rule['effect']> = new Map([
  ['ask', 'ask'],
  ['blocked', 'deny'],
]);

/** `git log:*` and `git log *` match the words themselves or with more after them. */
export function matchesCommand(content: string, command: string): boolean {
  return patternsOf(content).some((pattern) => matchesWildcard(pattern, command));
}

/** The wildcard patterns of a rule's content. */
export function patternsOf(content: string): string[] {
  if (!content.endsWith(':*') && !content.endsWith(' *')) return [content];
  const prefix = content.slice(0, -2);
  return [prefix, `${prefix} *`];
}

/** The text as a pattern that matches nothing but itself: `\*` is a star. */
export function literalStars(text: string): string {
  return text.replaceAll('*', '\\*');
}
