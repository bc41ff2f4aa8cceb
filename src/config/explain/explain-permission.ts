import { type Decision, decide, type Situation } from '../../permissions/decide.ts';
import { matchesCall, matchesTool, type ToolRef } from '../../permissions/match.ts';
import type { Workspace } from '../../permissions/path.ts';
import { type Rule, ruleText } from '../../permissions/rule.ts';
import type { Configuration } from '../configuration.ts';
import { countsWhole } from '../settings/settings.ts';
import type { CallFacts } from './call-facts.ts';
import type { HookRow, PermissionExplanation, RuleRow } from './explanation.ts';
import { meantTool } from './meant-tool.ts';
import { hooksBefore } from './permission-hooks.ts';
import { explainMode } from './permission-mode.ts';
import { nextOf } from './permission-steps.ts';
import { resolveTool } from './resolve-tool.ts';
import { placeOfRule, RULE_PLACES, type WrittenRule, writtenRules } from './rule-places.ts';
import { standText } from './stand.ts';
import { isUnasked, withoutClaim } from './unasked.ts';

/** Which rule, mode or claim decides about a call of the tool, where it stands, and what all the others said. */
export function explainPermission(
  configuration: Configuration,
  name: string,
  facts: CallFacts = {},
): PermissionExplanation {
  const { settings } = configuration;
  const ref = facts.ref ?? resolveTool(configuration, name);
  const call = { ...ref, input: facts.input ?? {} };
  const mode = explainMode(configuration, facts.mode);
  const hooks = hooksBefore(configuration, ref);
  const rules = [...settings.rules, ...(facts.rules ?? [])];
  const workspace = { ...workspaceOf(configuration), links: facts.links ?? [] };
  // Without arguments the question is about the tool in general, which a rule about some arguments does not decide.
  const applies = (rule: Rule) => facts.input !== undefined || rule.content === undefined;
  const general = rules.filter(applies);
  const decision = decisionOf(configuration, { call, rules: general, mode: mode.mode, workspace }, facts);
  const written = writtenRules(configuration);
  const counting = written.filter(
    ({ rule, source }) => rule.effect !== 'allow' || countsWhole(settings, source),
  );
  const deciding = decision.reason.rule;
  const about = rules.filter((rule) => matchesTool(rule, ref));
  const rows = about.map((rule): RuleRow => {
    const at = placeOfRule(counting, rule)?.at;
    const isAbout = applies(rule) && matchesCall(rule, call, workspace);
    const part = rule === deciding ? 'decides' : isAbout ? 'beaten' : 'other arguments';
    return {
      effect: rule.effect,
      rule: ruleText(rule),
      of: RULE_PLACES[rule.source],
      ...(at && { at }),
      part,
    };
  });
  const all = [...rows.toSorted(byWeight), ...ofPendingFiles(configuration, ref, written)];
  const said = withHooks(answerOf(ref.name, decision, all[0]), decision, hooks);
  const isKnown = ref.server !== undefined || facts.isBuiltIn === true;
  const meant = isKnown ? undefined : meantTool(configuration, name, facts.builtIns ?? []);
  const guess = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return {
    kind: 'permission',
    name: ref.name,
    answer: isKnown
      ? said
      : `No tool "${name}" is known here${guess || '.'} One so called ${said.slice(ref.name.length + 1)}`,
    standing: !isKnown ? 'unknown' : decision.kind === 'deny' ? 'unusable' : 'usable',
    decision: decision.kind,
    reason: decision.reason.text,
    mode,
    rules: all,
    hooks,
    ...(facts.path !== undefined && { path: facts.path }),
    next: nextOf(ref, decision, all, { facts, workspace, meant }),
  };
}

/** A session refuses a path that leads nowhere before it looks at any rule. */
function decisionOf(
  configuration: Configuration,
  situation: Pick<Situation, 'call' | 'rules' | 'mode' | 'workspace'>,
  facts: CallFacts,
): Decision {
  if (facts.fault !== undefined) return { kind: 'deny', reason: { text: facts.fault } };
  const decision = decide({
    ...situation,
    bypassLaunched: false,
    trusted: isTrusted(configuration, situation.call, facts),
    ...(facts.annotations && { annotations: facts.annotations }),
    ...(facts.changed !== undefined && { changed: { text: facts.changed, isNew: facts.isNew === true } }),
  });
  return isUnasked(situation.call, facts) ? withoutClaim(decision, situation.call) : decision;
}

/** What paths of a call are measured against. */
export function workspaceOf({ world, settings }: Pick<Configuration, 'world' | 'settings'>): Workspace {
  return { cwd: world.cwd, home: world.userHome, directories: settings.directories };
}

/** What runs in this process is ours; of others a person said so. */
function isTrusted({ merged }: Configuration, { server }: ToolRef, { isBuiltIn }: CallFacts): boolean {
  if (server === undefined) return isBuiltIn === true;
  return merged.servers.find(({ name }) => name === server)?.entry?.trust === true;
}

const WEIGHTS: Readonly<Record<RuleRow['part'], number>> = {
  decides: 0,
  beaten: 1,
  'other arguments': 2,
  'not approved': 3,
};

function byWeight(a: RuleRow, b: RuleRow): number {
  return WEIGHTS[a.part] - WEIGHTS[b.part];
}

/** Allow rules in files of the project that nobody approved: people wonder why they do nothing. */
function ofPendingFiles(
  { settings }: Configuration,
  ref: ToolRef,
  written: readonly WrittenRule[],
): RuleRow[] {
  return written.flatMap(({ rule, at, source }): RuleRow[] => {
    const isIdle = rule.effect === 'allow' && !countsWhole(settings, source);
    if (!isIdle || !matchesTool(rule, ref)) return [];
    return [
      { effect: 'allow', rule: ruleText(rule), of: RULE_PLACES[rule.source], at, part: 'not approved' },
    ];
  });
}

const WORDS: Readonly<Record<Decision['kind'], string>> = {
  allow: 'runs without a question',
  ask: 'runs only if a person says so',
  deny: 'never runs',
};

function answerOf(name: string, { kind, reason }: Decision, first: RuleRow | undefined): string {
  if (first?.part !== 'decides') return `${name} ${WORDS[kind]}: ${reason.text}.`;
  const where = first.at ? `${standText(first.at)} (${first.at.scope})` : first.of;
  return `${name} ${WORDS[kind]}: ${first.effect} rule "${first.rule}" in ${where}.`;
}

/** Hooks open nothing that is denied; all else they may change. */
function withHooks(answer: string, { kind }: Decision, hooks: readonly HookRow[]): string {
  if (kind === 'deny' || hooks.length === 0) return answer;
  const [first] = hooks as [HookRow];
  const who =
    hooks.length === 1
      ? `the PreToolUse hook at ${standText(first.at)} says`
      : `one of ${hooks.length} PreToolUse hooks says`;
  return `${answer.replace(/\.$/, '')}; unless ${who} otherwise, which is asked first.`;
}
