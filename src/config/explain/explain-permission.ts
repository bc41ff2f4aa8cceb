import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import { matchingHooks } from '../../hooks/match-hooks.ts';
import { type Decision, decide, type Situation } from '../../permissions/decide.ts';
import { matchesCall, matchesTool, narrowRules, type ToolRef } from '../../permissions/match.ts';
import type { PathLink, Workspace } from '../../permissions/path.ts';
import { parseRule, type Rule, type RuleSource, ruleText } from '../../permissions/rule.ts';
import { subjectKind } from '../../permissions/subject.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { Configuration } from '../configuration.ts';
import { readHookSettings } from '../settings/hook-settings.ts';
import { effectiveMode, isFullyActive } from '../settings/merge-settings.ts';
import { RULE_SOURCES } from '../settings/read-settings.ts';
import { SettingDiagnostics } from '../settings/setting-keys.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import {
  formatLocation,
  type HookRow,
  type Location,
  locationAt,
  type PermissionExplanation,
  type RuleRow,
} from './explanation.ts';
import { resolveTool, suggestTool } from './resolve-tool.ts';

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
  const hooks = matchingHookRows(configuration, ref);
  const rules = [...settings.rules, ...(facts.rules ?? [])];
  const workspace = { ...workspaceOf(configuration), links: facts.links ?? [] };
  // Without arguments the question is about the tool in general, which a rule about some arguments does not decide.
  const applies = (rule: Rule) => facts.input !== undefined || rule.content === undefined;
  const general = rules.filter(applies);
  const decision = decisionOf(configuration, { call, rules: general, mode: mode.mode, workspace }, facts);
  const written = writtenRules(configuration);
  const counting = written.filter(
    ({ rule, source }) => rule.effect !== 'allow' || isFullyActive(settings, source),
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
  const all = [...rows.toSorted(byPart), ...ofPendingFiles(configuration, ref, written)];
  const effect = `${effectText(decision, all[0])}${hookText(decision, hooks)}.`;
  const isKnown = ref.server !== undefined || facts.isBuiltIn === true;
  const suggestion = isKnown ? undefined : suggestTool(configuration, name, facts.builtIns ?? []);
  const guess = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
  return {
    kind: 'permission',
    name: ref.name,
    answer: isKnown
      ? `${ref.name} ${effect}`
      : `No tool "${name}" is known here${guess || '.'} A tool of this name ${effect}`,
    status: !isKnown ? 'unknown' : decision.kind === 'deny' ? 'unusable' : 'usable',
    decision: decision.kind,
    reason: decision.reason.text,
    mode,
    rules: all,
    hooks,
    ...(facts.path !== undefined && { path: facts.path }),
    next: nextOf(ref, decision, all, { facts, workspace, suggestion }),
  };
}

/** A session refuses a path that leads nowhere before it looks at any rule. */
function decisionOf(
  configuration: Configuration,
  situation: Pick<Situation, 'call' | 'rules' | 'mode' | 'workspace'>,
  facts: CallFacts,
): Decision {
  if (facts.fault !== undefined) return { kind: 'deny', reason: { text: facts.fault } };
  return decide({
    ...situation,
    bypassLaunched: false,
    ...(isUnasked(situation.call, facts) && {
      doubt: UNKNOWN_EFFECT[situation.call.server ? 'server' : 'none'],
    }),
    trusted: isTrusted(configuration, situation.call, facts),
    ...(facts.annotations && { annotations: facts.annotations }),
    ...(facts.changed !== undefined && { changed: { text: facts.changed, isNew: facts.isNew === true } }),
  });
}

/** Why the decision cannot rest on the tool's annotations. */
const UNKNOWN_EFFECT = {
  server: 'no rule allows it, and its server was not asked what it does',
  none: 'no rule allows it, and what it does is unknown',
} as const;

/** What paths of a call are measured against. */
export function workspaceOf({ context, settings }: Pick<Configuration, 'context' | 'settings'>): Workspace {
  return { cwd: context.cwd, home: context.userHome, directories: settings.directories };
}

/** What runs in this process is ours; of others a person said so. */
function isTrusted({ merged }: Configuration, { server }: ToolRef, { isBuiltIn }: CallFacts): boolean {
  if (server === undefined) return isBuiltIn === true;
  return merged.servers.find(({ name }) => name === server)?.entry?.trust === true;
}

const PART_ORDER: Readonly<Record<RuleRow['part'], number>> = {
  decides: 0,
  beaten: 1,
  'other arguments': 2,
  'not approved': 3,
};

function byPart(a: RuleRow, b: RuleRow): number {
  return PART_ORDER[a.part] - PART_ORDER[b.part];
}

/** Allow rules in files of the project that nobody approved: people wonder why they do nothing. */
function ofPendingFiles(
  { settings }: Configuration,
  ref: ToolRef,
  written: readonly WrittenRule[],
): RuleRow[] {
  return written.flatMap(({ rule, at, source }): RuleRow[] => {
    const isIdle = rule.effect === 'allow' && !isFullyActive(settings, source);
    if (!isIdle || !matchesTool(rule, ref)) return [];
    return [
      { effect: 'allow', rule: ruleText(rule), of: RULE_PLACES[rule.source], at, part: 'not approved' },
    ];
  });
}

const EFFECTS: Readonly<Record<Decision['kind'], string>> = {
  allow: 'runs without asking',
  ask: 'requires approval',
  deny: 'is denied',
};

function effectText({ kind, reason }: Decision, first: RuleRow | undefined): string {
  if (first?.part !== 'decides') return `${EFFECTS[kind]}: ${reason.text}`;
  const where = first.at ? `${formatLocation(first.at)} (${first.at.scope})` : first.of;
  return `${EFFECTS[kind]}: ${first.effect} rule "${first.rule}" in ${where}`;
}

/** A hook cannot allow what is denied; it can change every other decision. */
function hookText({ kind }: Decision, hooks: readonly HookRow[]): string {
  if (kind === 'deny' || hooks.length === 0) return '';
  const [first] = hooks as [HookRow];
  const who =
    hooks.length === 1
      ? `the PreToolUse hook at ${formatLocation(first.at)}`
      : `one of ${hooks.length} PreToolUse hooks`;
  return `, unless ${who}, which runs first, decides otherwise`;
}

type Known = {
  readonly facts: CallFacts;
  readonly workspace: Workspace;
  /** The tool that is likely meant, if nobody knows this one. */
  readonly suggestion: string | undefined;
};

/** What to do next; without arguments, also how to ask about a call that some rules may decide. */
function nextOf(ref: ToolRef, decision: Decision, rows: readonly RuleRow[], known: Known): string[] {
  const kind = subjectKind(ref.name);
  const isOpen = known.facts.input === undefined && rows.some(({ part }) => part === 'other arguments');
  const steps = stepsOf(ref, decision, rows, known);
  if (!isOpen || kind === undefined) return steps;
  const example = `${ref.name}(<${kind === 'word' ? 'name' : kind}>)`;
  return [
    ...steps,
    `some rules depend on its arguments: toolplane explain permission ${shellQuote(example)}`,
  ];
}

/** A rule of others cannot be taken back here; one's own can, where it stands. */
function stepsOf(
  ref: ToolRef,
  { kind }: Decision,
  rows: readonly RuleRow[],
  { facts, workspace, suggestion }: Known,
): string[] {
  if (facts.fault !== undefined) return ['name another path'];
  if (suggestion !== undefined) return [`toolplane explain permission ${shellQuote(suggestion)}`];
  const [first] = rows;
  const decides = first?.part === 'decides' ? first : undefined;
  const where = decides?.at ? formatLocation(decides.at) : undefined;
  const isManaged = decides?.at?.scope === 'managed';
  if (kind === 'allow') return where ? [`to be asked instead, remove the rule at ${where}`] : [];
  const idle = rows.find(({ part }) => part === 'not approved');
  const approve = idle?.at
    ? [`if you trust ${idle.at.label}, approve it: toolplane mcp approve --settings`]
    : [];
  if (decides) {
    if (isManaged) return [`ask your administrator: no other rule overrides the one at ${where}`];
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
  if (name.includes('*')) return `to see the tools it stands for: toolplane tools -s ${shellQuote(server)}`;
  return `to ask its server what it does: toolplane explain tool ${shellQuote(name)}`;
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

type KnownSettings = Pick<Configuration, 'settings' | 'settingsSources'>;

/** The mode that a session with this flag begins in, and where it stands. */
function explainMode(
  { settings, settingsSources }: KnownSettings,
  flag: PermissionMode | undefined,
): { readonly mode: PermissionMode; readonly says: string } {
  const mode = effectiveMode(settings, flag);
  if (mode === undefined) return { mode: 'default', says: 'the default' };
  const isRuled = settings.permissions.modes.policySettings !== undefined;
  if (flag !== undefined && !isRuled) return { mode, says: 'by --permission-mode' };
  const source = settingsSources.findLast(
    (it) => isFullyActive(settings, it) && modeOf(it) === mode && (!isRuled || it.scope === 'managed'),
  );
  const beats = flag === undefined ? '' : ', which --permission-mode cannot change';
  return { mode, says: `by ${source ? placeOf(source) : 'settings'}${beats}` };
}

function modeOf({ value: { permissions } }: SettingsSource): unknown {
  return isRecord(permissions) ? permissions.defaultMode : undefined;
}

function placeOf({ scope, label, locate }: SettingsSource): string {
  return formatLocation(locationAt(scope, label, locate(['permissions', 'defaultMode'])));
}

/** The hooks of settings that hear of a call of this tool before anything is decided, in the order in which they run. */
function matchingHookRows(
  { settings, settingsSources, context }: Pick<Configuration, 'settings' | 'settingsSources' | 'context'>,
  { name, server, tool }: ToolRef,
): HookRow[] {
  const input = {
    hook_event_name: 'PreToolUse',
    session_id: '',
    transcript_path: '',
    cwd: context.cwd,
    tool_name: name,
    ...(server !== undefined && tool !== undefined && { mcp_server: { name: server, source: '', tool } }),
    tool_input: {},
    tool_use_id: '',
  } as const;
  const sources = settingsSources.filter((it) => isFullyActive(settings, it));
  return sources.flatMap(({ scope, label, value, locate }) => {
    const groups: unknown = isRecord(value.hooks) ? value.hooks.PreToolUse : undefined;
    return listed(groups).flatMap((group, at) => {
      const hooks = isRecord(group) ? listed(group.hooks) : [];
      return hooks.flatMap((hook, which): HookRow[] => {
        // One at a time, as a file of one: so each is known by its place.
        const alone = { PreToolUse: [{ ...(group as object), hooks: [hook] }] };
        const [found] = matchingHooks(readHookSettings(alone, new SettingDiagnostics()), input);
        if (found?.target.kind !== 'command') return [];
        const place = locate(['hooks', 'PreToolUse', at, 'hooks', which]);
        return [
          {
            ...(found.matcher !== undefined && { matcher: found.matcher }),
            command: redactText(found.target.command),
            at: locationAt(scope, label, place),
          },
        ];
      });
    });
  });
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A rule as it stands in a file. */
type WrittenRule = { readonly rule: Rule; readonly at: Location; readonly source: SettingsSource };

/** Every rule of every settings file and flag, also those that do not count, the highest first. */
function writtenRules({ settingsSources }: Pick<Configuration, 'settingsSources'>): WrittenRule[] {
  return [...settingsSources].reverse().flatMap((source) => {
    const permissions = isRecord(source.value.permissions) ? source.value.permissions : {};
    return (['deny', 'ask', 'allow'] as const).flatMap((effect) => {
      const texts: unknown = permissions[effect];
      return (Array.isArray(texts) ? texts : []).flatMap((text: unknown, at) => {
        if (typeof text !== 'string') return [];
        const parsed = parseRule(text, effect, RULE_SOURCES[source.scope]);
        if (!parsed.ok) return [];
        const position = source.locate(['permissions', effect, at]);
        return [{ rule: parsed.rule, at: locationAt(source.scope, source.label, position), source }];
      });
    });
  });
}

/** Where the rule stands; undefined for one of a flag or of a server's entry. */
function placeOfRule(all: readonly WrittenRule[], rule: Rule): WrittenRule | undefined {
  return all.find(
    (it) =>
      it.rule.effect === rule.effect &&
      ruleText(it.rule) === ruleText(rule) &&
      it.rule.source === rule.source,
  );
}

/** Whose rule it is, as people call the place. */
const RULE_PLACES: Readonly<Record<RuleSource, string>> = {
  cliArg: 'a flag',
  session: 'this session',
  localSettings: 'local settings',
  projectSettings: 'project settings',
  userSettings: 'user settings',
  policySettings: 'managed settings',
  serverPolicy: 'the entry of its server',
};

/** Whether nobody knows what the tool claims of itself: its server was not asked, or there is none. */
function isUnasked(
  { server }: Pick<ToolRef, 'server'>,
  { isAsked, isBuiltIn }: Pick<CallFacts, 'isAsked' | 'isBuiltIn'>,
): boolean {
  return isAsked !== true && (server !== undefined || isBuiltIn !== true);
}

/** What is known of the call beside the rules. */
export type CallFacts = {
  readonly ref?: ToolRef;
  /** With its paths as the file system sees them: that is what is decided on. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Why its path leads nowhere: then nobody is asked. */
  readonly fault?: string;
  /** The real path, where another was written. */
  readonly path?: string;
  /** Where the paths that rules name lead. */
  readonly links?: readonly PathLink[];
  /** What its server claims; nothing unless it was asked. */
  readonly annotations?: ToolAnnotations;
  /** Its server was asked for its claims, and told those or none. */
  readonly isAsked?: boolean;
  /** Of a built-in tool, which is ours; a server's is trusted if its entry says so. */
  readonly isBuiltIn?: boolean;
  /** The names of all that are built in, one of which may be meant. */
  readonly builtIns?: readonly string[];
  /** How it differs from what was accepted. */
  readonly changed?: string;
  /** It was not there when its server was accepted: a rule that names it accepts it. */
  readonly isNew?: boolean;
  /** Rules that entries and flags make beside settings. */
  readonly rules?: readonly Rule[];
  /** `--permission-mode`. */
  readonly mode?: PermissionMode;
};
