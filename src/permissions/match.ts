import { matchesWildcard } from '../base/text/patterns.ts';
import { isAliasOf } from '../pool/unique-names.ts';
import {
  hasServerWildcard,
  isMcpToolName,
  mcpServerRule,
  mcpToolName,
  normalizeName,
} from '../protocol/tool-name.ts';
import { allowingContents, allowsCommand } from './commands/allowed-command.ts';
import { matchFiles } from './commands/file-command.ts';
import { type CommandMatch, matchRestriction } from './commands/restricted-command.ts';
import { matchesPath, type Workspace } from './path.ts';
import { type Rule, ruleText } from './rule.ts';
import { type Subject, speaksAbout, subjectKind, subjectOf } from './subject.ts';

/** A tool for the comparison with rules: the name that the model sees, which may be an alias, and the server of an MCP tool. */
export type ToolRef = {
  readonly name: string;
  /** The key of the server; always present for an MCP tool. */
  readonly server?: string;
  /** The tool's own name at that server. */
  readonly tool?: string;
  /** The keys of all servers, whatever their state: an allow rule could mean any of them. */
  readonly servers?: readonly string[];
};

/** A tool call that needs a decision. */
export type ToolCall = ToolRef & { readonly input: Readonly<Record<string, unknown>> };

/** Whether the rule matches the call with certainty. */
export function matchesCall(rule: Rule, call: ToolCall, workspace: Workspace): boolean {
  return matchCall(rule, call, workspace).kind === 'yes';
}

/** Compares the rule with the call. A call without the compared argument is matched by deny and ask rules only. */
export function matchCall(rule: Rule, call: ToolCall, workspace: Workspace): CommandMatch {
  const access = commandAccess(rule, call);
  const { command } = call.input;
  if (access !== undefined && rule.content !== undefined && typeof command === 'string')
    return matchFiles(rule.content, access, command, workspace);
  if (!matchesTool(rule, call)) return { kind: 'no' };
  if (rule.content === undefined) return { kind: 'yes' };
  const subject = subjectOf(call.name, call.input);
  if (!subject) return { kind: rule.effect === 'allow' ? 'no' : 'yes' };
  return matchSubject(rule.content, rule.effect === 'allow', subject, workspace);
}

/** Deny and ask rules for paths also restrict what shell commands read and write. */
function commandAccess({ tool, effect }: Rule, { name, server }: ToolCall): 'read' | 'write' | undefined {
  if (effect === 'allow' || server !== undefined || subjectKind(name) !== 'command') return undefined;
  if (tool === 'Read') return 'read';
  return tool === 'Edit' || tool === 'Write' ? 'write' : undefined;
}

/** The allow rules that together allow a call: one rule, or for a compound shell command one for each of its commands. */
export function allowingRules(
  rules: readonly Rule[],
  call: ToolCall,
  workspace: Workspace,
): readonly Rule[] | undefined {
  const allow = rules.filter((rule) => rule.effect === 'allow' && matchesTool(rule, call));
  const single = allow.find((rule) => matchesCall(rule, call, workspace));
  if (single) return [single];
  const subject = subjectOf(call.name, call.input);
  if (subject?.kind !== 'command') return undefined;
  const contents = allow.flatMap(({ content }) => content ?? []);
  const found = new Set(allowingContents(contents, subject.value));
  return found.size > 0
    ? allow.filter(({ content }) => content !== undefined && found.has(content))
    : undefined;
}

/**
 * Whether the rule is about this tool at all, whatever its content says. An allow rule whose name could mean several
 * servers (`mcp__a__b__c`: `b__c` of `a`, or `c` of `a__b`) allows none of their tools; deny and ask rules apply to all.
 */
export function matchesTool(rule: Rule, ref: ToolRef): boolean {
  return isAbout(rule, ref) && (rule.effect !== 'allow' || !couldMeanAnother(rule.tool, ref));
}

/** Whether the rule has the full name or the alias of this tool, not a server or a pattern that includes it. */
export function namesTool({ tool, content }: Rule, { name, server, tool: own = '' }: ToolRef): boolean {
  if (content !== undefined) return false;
  return tool === name || (server !== undefined && normalizeName(tool) === mcpToolName(server, own));
}

function isAbout(rule: Rule, ref: ToolRef): boolean {
  if (rule.tool === '*' || rule.tool === ref.name) return true;
  if (ref.server === undefined) {
    return speaksAbout(rule.tool, ref.name, rule.content !== undefined);
  }
  if (!isMcpToolName(rule.tool)) return false;
  const pattern = normalizePattern(rule.tool);
  const server = mcpServerRule(ref.server);
  const full = mcpToolName(ref.server, ref.tool ?? '');
  if (pattern === server || pattern === full) return true;
  if (rule.effect !== 'allow' && isAliasOf(rule.tool, ref.server, ref.tool ?? '')) return true;
  if (hasServerWildcard(pattern)) return matchesWildcard(pattern, full) || matchesWildcard(pattern, ref.name);
  // Compared after the server's whole name: `mcp__a__*` is not about a server called `a__b`.
  const prefix = `${server}__`;
  return pattern.startsWith(prefix) && matchesWildcard(pattern, full);
}

/** Whether an allow rule could mean a tool of another server. An alias is unique: it is derived from server and tool. */
function couldMeanAnother(text: string, { name, server, tool = '', servers = [] }: ToolRef): boolean {
  if (server === undefined || hasServerWildcard(text)) return false;
  if (text === name && name !== mcpToolName(server, tool)) return false;
  const pattern = normalizePattern(text);
  for (const key of servers) {
    const other = mcpServerRule(key);
    if (key !== server && (pattern === other || pattern.startsWith(`${other}__`))) return true;
  }
  return false;
}

function normalizePattern(text: string): string {
  return text.split('*').map(normalizeName).join('*');
}

function matchSubject(
  content: string,
  allows: boolean,
  subject: Subject,
  workspace: Workspace,
): CommandMatch {
  switch (subject.kind) {
    case 'word':
      return decided(
        matchesWildcard(content, subject.value) ||
          (subject.hasFamilies === true && content === `${subject.value}:*`),
      );
    case 'path':
      return decided(
        matchesPath(content, subject.value, allows ? withoutWorkspaceLinks(workspace) : workspace),
      );
    case 'command':
      return allows
        ? decided(allowsCommand(content, subject.value))
        : matchRestriction(content, subject.value);
  }
}

/** A symbolic link in the workspace must not extend what a rule allows: it may lead anywhere, and change. */
function withoutWorkspaceLinks(workspace: Workspace): Workspace {
  return { ...workspace, links: workspace.links?.filter(({ isHome }) => isHome) ?? [] };
}

function decided(matches: boolean): CommandMatch {
  return { kind: matches ? 'yes' : 'no' };
}

/** A deny rule without effect, probably misspelled. */
type UnmatchedRule = { readonly rule: Rule; readonly message: string };

/** Deny rules that match no known tool; to be called when the servers are connected and their tools are known. */
export function unmatchedDenyRules(rules: readonly Rule[], known: readonly ToolRef[]): UnmatchedRule[] {
  return rules
    .filter((rule) => rule.effect === 'deny' && !known.some((ref) => matchesTool(rule, ref)))
    .map((rule) => ({
      rule,
      message: `deny rule "${ruleText(rule)}" of ${rule.source} matches no known tool; check its spelling`,
    }));
}

/** The rule that removes a tool from the pool: a deny rule for the whole tool. */
export function removingRule(rules: readonly Rule[], ref: ToolRef): Rule | undefined {
  return rules.find((rule) => rule.effect === 'deny' && rule.content === undefined && matchesTool(rule, ref));
}
