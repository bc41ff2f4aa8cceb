import { isRecord } from '../../base/json-value.ts';
import { shellQuote } from '../../base/text/display-text.ts';
import { redactText } from '../../base/text/redact.ts';
import { matchingHooks } from '../../hooks/match-hooks.ts';
import type { CertainEffect } from '../../permissions/commands/command-effect.ts';
import { type ApprovalNeed, type Decision, decide, type Situation } from '../../permissions/decide.ts';
import { matchesCall, matchesTool, type ToolRef } from '../../permissions/match.ts';
import type { PathLink, Workspace } from '../../permissions/path.ts';
import { parseRule, type Rule, type RuleSource, ruleText } from '../../permissions/rule.ts';
import { subjectKind } from '../../permissions/subject.ts';
import { narrowRules } from '../../permissions/suggested-rules.ts';
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

/** Whether a call of the tool may run: the deciding rule, mode or annotation, its location, and all other matching rules. */
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
  // Without arguments, rules for specific arguments do not decide.
  const applies = (rule: Rule) => facts.input !== undefined || rule.content === undefined;
  const { blocksOutside } = settings.permissions;
  const situation = {
    call,
    rules: rules.filter(applies),
    mode: mode.mode,
    workspace,
    ...(blocksOutside && { blocksOutside }),
  };
  const decision = decisionOf(configuration, situation, facts);
  const written = writtenRules(configuration);
  const active = written.filter(
    ({ rule, source }) => rule.effect !== 'allow' || isFullyActive(settings, source),
  );
  // A rule for paths can decide about a shell command too.
  const matching = rules.filter((rule) => matchesTool(rule, ref) || rule === decision.reason.rule);
  // Lowest precedence first, as the rules: each of several equal rules gets its own location.
  const unplaced = active.toReversed();
  const rows = matching.map((rule): RuleRow => {
    const at = takeLocation(unplaced, rule);
    const isMatch = applies(rule) && matchesCall(rule, call, workspace);
    const part = rule === decision.reason.rule ? 'decides' : isMatch ? 'overridden' : 'other arguments';
    return {
      effect: rule.effect,
      rule: ruleText(rule),
      of: RULE_PLACES[rule.source],
      ...(at && { at }),
      part,
    };
  });
  const all = [...rows.toSorted(byPart), ...pendingRules(configuration, ref, written)];
  const effect = `${effectText(decision, all[0])}${hookText(decision, hooks)}.`;
  const isKnown = ref.server !== undefined || facts.isBuiltIn === true;
  const suggestion = isKnown ? undefined : suggestTool(configuration, name, facts.builtIns ?? []);
  const guess = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
  return {
    kind: 'permission',
    name: ref.name,
    answer: isKnown
      ? `${ref.name} ${effect}`
      : `Unknown tool "${name}"${guess || '.'} A tool of this name ${effect}`,
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

/** An unresolvable path is denied before rules are checked, as in a session. */
function decisionOf(
  configuration: Configuration,
  situation: Pick<Situation, 'call' | 'rules' | 'mode' | 'workspace' | 'blocksOutside'>,
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
    ...(facts.approval && { approval: facts.approval }),
    ...(facts.effect && { effect: facts.effect }),
    ...(facts.changed !== undefined && { changed: { text: facts.changed, isNew: facts.isNew === true } }),
  });
}

/** Why the decision cannot rest on the tool's annotations. */
const UNKNOWN_EFFECT = {
  server: 'no rule allows it, and its annotations are unknown, since its server was not contacted',
  none: 'no rule allows it, and its annotations are unknown',
} as const;

/** The directories that paths of a call are resolved against. */
export function workspaceOf({ context, settings }: Pick<Configuration, 'context' | 'settings'>): Workspace {
  return { cwd: context.cwd, home: context.userHome, directories: settings.directories };
}

/** Built-in tools are trusted, and tools of servers with `trust` in their entry. */
function isTrusted({ merged }: Configuration, { server }: ToolRef, { isBuiltIn }: CallFacts): boolean {
  if (server === undefined) return isBuiltIn === true;
  return merged.servers.find(({ name }) => name === server)?.entry?.trust === true;
}

const PART_ORDER: Readonly<Record<RuleRow['part'], number>> = {
  decides: 0,
  overridden: 1,
  'other arguments': 2,
  'not approved': 3,
};

function byPart(a: RuleRow, b: RuleRow): number {
  return PART_ORDER[a.part] - PART_ORDER[b.part];
}

/** Allow rules in files of the project that are not approved. They have no effect. */
function pendingRules({ settings }: Configuration, ref: ToolRef, written: readonly WrittenRule[]): RuleRow[] {
  return written.flatMap(({ rule, at, source }): RuleRow[] => {
    const isPending = rule.effect === 'allow' && !isFullyActive(settings, source);
    if (!isPending || !matchesTool(rule, ref)) return [];
    return [
      { effect: 'allow', rule: ruleText(rule), of: RULE_PLACES[rule.source], at, part: 'not approved' },
    ];
  });
}

const EFFECTS: Readonly<Record<Decision['kind'], string>> = {
  allow: 'runs without approval',
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
  const hook =
    hooks.length === 1
      ? `the PreToolUse hook at ${formatLocation(first.at)}`
      : `one of ${hooks.length} PreToolUse hooks`;
  return `, unless ${hook}, which runs first, decides otherwise`;
}

type Known = {
  readonly facts: CallFacts;
  readonly workspace: Workspace;
  /** The closest known tool, if this one is unknown. */
  readonly suggestion: string | undefined;
};

/** The next steps; if some rules depend on arguments that were not given, also how to give them. */
function nextOf(ref: ToolRef, decision: Decision, rows: readonly RuleRow[], known: Known): string[] {
  const kind = subjectKind(ref.name);
  const isUndecided = known.facts.input === undefined && rows.some(({ part }) => part === 'other arguments');
  const steps = stepsOf(ref, decision, rows, known);
  if (!isUndecided || kind === undefined) return steps;
  const example = `${ref.name}(<${kind === 'word' ? 'name' : kind}>)`;
  return [
    ...steps,
    `some rules depend on the arguments of the call; to explain one call: toolplane explain permission ${shellQuote(example)}`,
  ];
}

/** Managed rules can be changed only by an administrator, other rules at their location. */
function stepsOf(
  ref: ToolRef,
  { kind }: Decision,
  rows: readonly RuleRow[],
  { facts, workspace, suggestion }: Known,
): string[] {
  if (facts.fault !== undefined) return ['use another path'];
  if (suggestion !== undefined) return [`toolplane explain permission ${shellQuote(suggestion)}`];
  const [first] = rows;
  const decides = first?.part === 'decides' ? first : undefined;
  const where = decides?.at ? formatLocation(decides.at) : undefined;
  const isManaged = decides?.at?.scope === 'managed';
  if (kind === 'allow') return where ? [`to require approval instead, remove the rule at ${where}`] : [];
  const pending = rows.find(({ part }) => part === 'not approved');
  const approve = pending?.at ? [`review ${pending.at.label} and approve it: toolplane mcp approve`] : [];
  if (decides) {
    if (isManaged)
      return [`ask your administrator to change the rule at ${where}, because no other rule overrides it`];
    return [...(where ? [`remove the rule at ${where}`] : []), ...approve];
  }
  const rules = rulesToAllow(ref.name, facts, workspace).map((rule) => JSON.stringify(rule));
  return [
    `to always allow it, add ${rules.join(', ')} to permissions.allow in your settings, or answer "always" in the prompt`,
    ...(ref.server !== undefined && isUnasked(ref, facts) ? [askServerStep(ref.name, ref.server)] : []),
    ...approve,
  ];
}

function askServerStep(name: string, server: string): string {
  if (name.includes('*')) return `to see the matching tools: toolplane tools -s ${shellQuote(server)}`;
  return `to read the annotations of the tool from its server: toolplane explain tool ${shellQuote(name)}`;
}

/** The rules that a permission prompt would offer; without arguments, the form of such a rule. */
function rulesToAllow(name: string, { isBuiltIn, input }: CallFacts, workspace: Workspace): string[] {
  const kind = subjectKind(name);
  if (isBuiltIn !== true || kind === undefined) return [name];
  if (input === undefined) return [`${name}(<${kind === 'word' ? 'name' : kind}>)`];
  return narrowRules(name, [input], workspace).map(({ toolName, ruleContent }) =>
    ruleText({ tool: toolName, ...(ruleContent !== undefined && { content: ruleContent }) }),
  );
}

type KnownSettings = Pick<Configuration, 'settings' | 'settingsSources'>;

/** The initial mode of a session with this flag, and where it is set. */
function explainMode(
  { settings, settingsSources }: KnownSettings,
  flag: PermissionMode | undefined,
): { readonly mode: PermissionMode; readonly says: string } {
  const mode = effectiveMode(settings, flag);
  if (mode === undefined) return { mode: 'default', says: 'no other mode is set' };
  const isManaged = settings.permissions.modes.policySettings !== undefined;
  if (flag !== undefined && !isManaged) return { mode, says: 'set by --permission-mode' };
  const source = settingsSources.findLast(
    (it) => isFullyActive(settings, it) && modeOf(it) === mode && (!isManaged || it.scope === 'managed'),
  );
  const fixed = flag === undefined ? '' : ', which --permission-mode cannot change';
  return { mode, says: `set by ${source ? placeOf(source) : 'settings'}${fixed}` };
}

function modeOf({ value: { permissions } }: SettingsSource): unknown {
  return isRecord(permissions) ? permissions.defaultMode : undefined;
}

function placeOf({ scope, label, locate }: SettingsSource): string {
  return formatLocation(locationAt(scope, label, locate(['permissions', 'defaultMode'])));
}

/** The PreToolUse hooks of settings that match the tool, in the order in which they run. */
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
        // Each hook is matched alone, so that its location is known.
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

/** A rule with its location. */
type WrittenRule = { readonly rule: Rule; readonly at: Location; readonly source: SettingsSource };

/** Every rule of every settings source, including pending ones, the highest precedence first. */
function writtenRules({ settingsSources }: Pick<Configuration, 'settingsSources'>): WrittenRule[] {
  return [...settingsSources].reverse().flatMap((source) => {
    const permissions = isRecord(source.value.permissions) ? source.value.permissions : {};
    return (['deny', 'ask', 'allow'] as const).flatMap((effect) => {
      const texts: unknown = permissions[effect];
      return listed(texts).flatMap((text, at) => {
        if (typeof text !== 'string') return [];
        const parsed = parseRule(text, effect, RULE_SOURCES[source.scope]);
        if (!parsed.ok) return [];
        const position = source.locate(['permissions', effect, at]);
        return [{ rule: parsed.rule, at: locationAt(source.scope, source.label, position), source }];
      });
    });
  });
}

/** Removes the location of a rule from the list; undefined for a rule of a flag or of a server entry. */
function takeLocation(all: WrittenRule[], rule: Rule): Location | undefined {
  const index = all.findIndex(
    (it) =>
      it.rule.effect === rule.effect &&
      ruleText(it.rule) === ruleText(rule) &&
      it.rule.source === rule.source,
  );
  return index < 0 ? undefined : all.splice(index, 1)[0]?.at;
}

/** The source of a rule as text. */
const RULE_PLACES: Readonly<Record<RuleSource, string>> = {
  cliArg: 'a flag',
  session: 'this session',
  localSettings: 'local settings',
  projectSettings: 'project settings',
  userSettings: 'user settings',
  policySettings: 'managed settings',
  serverPolicy: 'the entry of its server',
};

/** Whether the annotations of the tool are unknown: its server was not contacted, or the tool is unknown. */
function isUnasked(
  { server }: Pick<ToolRef, 'server'>,
  { isAsked, isBuiltIn }: Pick<CallFacts, 'isAsked' | 'isBuiltIn'>,
): boolean {
  return isAsked !== true && (server !== undefined || isBuiltIn !== true);
}

/** What is known about the call besides the rules of settings. */
export type CallFacts = {
  readonly ref?: ToolRef;
  /** The arguments, with symbolic links in paths resolved. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Why the path of the call cannot be resolved. */
  readonly fault?: string;
  /** The real path of the call, if it differs from the given one. */
  readonly path?: string;
  /** What the shell command of the call certainly does at most. */
  readonly effect?: CertainEffect;
  /** Symbolic links in the paths of rules. */
  readonly links?: readonly PathLink[];
  /** The annotations of the tool, if its server was contacted. */
  readonly annotations?: ToolAnnotations;
  /** When a built-in tool needs approval, if not always. */
  readonly approval?: ApprovalNeed;
  /** The server of the tool was contacted. */
  readonly isAsked?: boolean;
  readonly isBuiltIn?: boolean;
  /** The names of all built-in tools, for suggestions. */
  readonly builtIns?: readonly string[];
  /** How the tool differs from the accepted definition. */
  readonly changed?: string;
  /** The tool was added after its server was accepted: a rule that names it accepts it. */
  readonly isNew?: boolean;
  /** Rules of server entries and flags. */
  readonly rules?: readonly Rule[];
  /** `--permission-mode`. */
  readonly mode?: PermissionMode;
};
