import { isRecord } from '../../../base/is-record.ts';
import type { ToolAnnotations } from '../../../protocol/mcp.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { type Decision, decide } from '../../permission/decide.ts';
import { matchesCall, matchesTool, type ToolRef } from '../../permission/match.ts';
import { type Rule, ruleText } from '../../permission/rule.ts';
import type { Configuration } from '../configuration.ts';
import type { PermissionExplanation, RuleRow } from './explanation.ts';
import { resolveTool } from './resolve-tool.ts';
import { placeOfRule, RULE_PLACES, type WrittenRule, writtenRules } from './rule-places.ts';
import { standAt, standText } from './stand.ts';

/** What is known of the call beside the rules. */
export type CallFacts = {
  readonly ref?: ToolRef;
  readonly input?: Readonly<Record<string, unknown>>;
  /** What its server claims; nothing unless it was asked. */
  readonly annotations?: ToolAnnotations;
  /** Of a built-in tool, which is ours; a server's is trusted if its entry says so. */
  readonly isBuiltIn?: boolean;
  /** How it differs from what was accepted. */
  readonly changed?: string;
  /** Rules that entries and flags make beside settings. */
  readonly rules?: readonly Rule[];
  readonly mode?: PermissionMode;
};

/** Which rule, mode or claim decides about a call of the tool, where it stands, and what all the others said. */
export function explainPermission(
  configuration: Configuration,
  name: string,
  facts: CallFacts = {},
): PermissionExplanation {
  const { settings } = configuration;
  const ref = facts.ref ?? resolveTool(configuration, name);
  const call = { ...ref, input: facts.input ?? {} };
  const mode = facts.mode ?? settings.defaultMode ?? 'default';
  const rules = [...settings.rules, ...(facts.rules ?? [])];
  const workspace = workspaceOf(configuration);
  const decision = decide({
    call,
    rules,
    mode,
    bypassLaunched: false,
    trusted: isTrusted(configuration, ref, facts),
    ...(facts.annotations && { annotations: facts.annotations }),
    ...(facts.changed !== undefined && { changed: { text: facts.changed } }),
    workspace,
  });
  const written = writtenRules(configuration);
  const deciding = decision.reason.rule;
  const about = rules.filter((rule) => matchesTool(rule, ref));
  const rows = about.map((rule): RuleRow => {
    const at = placeOfRule(written, rule)?.at;
    const part =
      rule === deciding ? 'decides' : matchesCall(rule, call, workspace) ? 'beaten' : 'other arguments';
    return {
      effect: rule.effect,
      rule: ruleText(rule),
      of: RULE_PLACES[rule.source],
      ...(at && { at }),
      part,
    };
  });
  const all = [...rows.toSorted(byWeight), ...ofPendingFiles(configuration, ref, written)];
  const said = answerOf(ref.name, decision, all[0]);
  const isKnown = ref.server !== undefined || facts.isBuiltIn === true;
  return {
    kind: 'permission',
    name: ref.name,
    answer: isKnown ? said : `No tool "${name}" is known here; of one so called: ${said}`,
    standing: !isKnown ? 'unknown' : decision.kind === 'deny' ? 'unusable' : 'usable',
    decision: decision.kind,
    reason: decision.reason.text,
    mode: { mode, says: sayMode(configuration, facts) },
    rules: all,
    next: nextOf(ref.name, decision, all),
  };
}

function workspaceOf({ world, settings }: Configuration) {
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
  const paths = new Set(settings.pending.map(({ path }) => path));
  return written.flatMap(({ rule, at, source }): RuleRow[] => {
    const isIdle = rule.effect === 'allow' && source.path !== undefined && paths.has(source.path);
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

/** Where the mode stands. */
function sayMode({ settings, settingsSources }: Configuration, { mode }: CallFacts): string {
  if (mode !== undefined) return 'by --permission-mode';
  if (settings.defaultMode === undefined) return 'nobody set another';
  const source = settingsSources.findLast(
    ({ value }) => isRecord(value.permissions) && value.permissions.defaultMode === settings.defaultMode,
  );
  if (source === undefined) return 'by settings';
  const position = source.locate(['permissions', 'defaultMode']);
  return `by ${standText(standAt(source.scope, source.label, position))}`;
}

/** A rule of others cannot be taken back here; one's own can, where it stands. */
function nextOf(name: string, { kind }: Decision, rows: readonly RuleRow[]): string[] {
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
  return [
    `to allow it always: add "${name}" to permissions.allow of your settings, or answer "always" when asked`,
    ...approve,
  ];
}
