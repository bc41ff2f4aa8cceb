import { shellWord } from '../../base/shell-word.ts';
import type { Decision } from '../../permissions/decide.ts';
import type { ToolRef } from '../../permissions/match.ts';
import { narrowRules } from '../../permissions/narrow-rules.ts';
import type { Workspace } from '../../permissions/path.ts';
import { ruleText } from '../../permissions/rule.ts';
import { subjectKind } from '../../permissions/subject.ts';
import type { CallFacts } from './call-facts.ts';
import type { RuleRow } from './explanation.ts';
import { standText } from './stand.ts';
import { isUnasked } from './unasked.ts';

type Known = {
  readonly facts: CallFacts;
  readonly workspace: Workspace;
  /** The tool that is likely meant, if nobody knows this one. */
  readonly meant: string | undefined;
};

/** What to do next; without arguments, also how to ask about a call that some rules may decide. */
export function nextOf(ref: ToolRef, decision: Decision, rows: readonly RuleRow[], known: Known): string[] {
  const kind = subjectKind(ref.name);
  const isOpen = known.facts.input === undefined && rows.some(({ part }) => part === 'other arguments');
  const steps = stepsOf(ref, decision, rows, known);
  if (!isOpen || kind === undefined) return steps;
  const example = `${ref.name}(<${kind === 'word' ? 'name' : kind}>)`;
  return [...steps, `some rules depend on its arguments: toolplane explain permission ${shellWord(example)}`];
}

/** A rule of others cannot be taken back here; one's own can, where it stands. */
function stepsOf(
  ref: ToolRef,
  { kind }: Decision,
  rows: readonly RuleRow[],
  { facts, workspace, meant }: Known,
): string[] {
  if (facts.fault !== undefined) return ['name another path'];
  if (meant !== undefined) return [`toolplane explain permission ${shellWord(meant)}`];
  const [first] = rows;
  const decides = first?.part === 'decides' ? first : undefined;
  const where = decides?.at ? standText(decides.at) : undefined;
  const isManaged = decides?.at?.scope === 'managed';
  if (kind === 'allow') return where ? [`to be asked instead, remove the rule at ${where}`] : [];
  const idle = rows.find(({ part }) => part === 'not approved');
  const approve = idle?.at
    ? [`if ${idle.at.label} is well, approve it: toolplane mcp approve --settings`]
    : [];
  if (decides) {
    if (isManaged) return [`ask those who run this machine: no other rule can beat the one at ${where}`];
    return [...(where ? [`remove the rule at ${where}`] : []), ...approve];
  }
  const rules = rulesToAllow(ref.name, facts, workspace).map((rule) => JSON.stringify(rule));
  return [
    `to allow it always: add ${rules.join(', ')} to permissions.allow of your settings, or answer "always" when asked`,
    ...(ref.server !== undefined && isUnasked(ref, facts) ? [askServerStep(ref.name, ref.server)] : []),
    ...approve,
  ];
}

/** A pattern stands for several tools, which can only be listed. */
function askServerStep(name: string, server: string): string {
  if (name.includes('*')) return `to see the tools it stands for: toolplane tools -s ${shellWord(server)}`;
  return `to ask its server what it does: toolplane explain tool ${shellWord(name)}`;
}

/** The rules that a prompt would offer; without arguments, what kind of rule it would be. */
function rulesToAllow(name: string, { isBuiltIn, input }: CallFacts, workspace: Workspace): string[] {
  const kind = subjectKind(name);
  if (isBuiltIn !== true || kind === undefined) return [name];
  if (input === undefined) return [`${name}(<${kind === 'word' ? 'name' : kind}>)`];
  return narrowRules(name, [input], workspace).map(({ toolName, ruleContent }) =>
    ruleText({ tool: toolName, ...(ruleContent !== undefined && { content: ruleContent }) }),
  );
}
