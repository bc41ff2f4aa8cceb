import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import { parseRule, type Rule, type RuleSource, ruleText } from '../../permissions/rule.ts';
import { PERMISSION_MODES, type PermissionBehavior, type PermissionMode } from '../../protocol/permission.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { checkMembers, type SettingDiagnostics } from './setting-keys.ts';

export type PermissionSettings = {
  readonly rules: readonly Rule[];
  readonly directories: readonly string[];
  readonly defaultMode?: PermissionMode;
  readonly forbidsBypass?: true;
  readonly blocksReads?: true;
  readonly blocksWrites?: true;
  readonly deniesPrompts?: true;
};

const EFFECTS = ['allow', 'ask', 'deny'] as const;
const IN_PROJECT: ReadonlySet<RuleSource> = new Set(['projectSettings', 'localSettings']);

/** Settings that are on or off, and their names in this code. */
const SWITCHES = {
  blockReadsOutsideWorkingDirectories: 'blocksReads',
  blockWritesOutsideWorkingDirectories: 'blocksWrites',
  denyInsteadOfPrompting: 'deniesPrompts',
} as const;
const MEMBERS = [
  ...EFFECTS,
  'defaultMode',
  'additionalDirectories',
  'disableBypassPermissionsMode',
  ...Object.keys(SWITCHES),
];

/** Reads `permissions` of settings; each rule and directory is checked separately. */
export function readPermissions(
  raw: unknown,
  source: RuleSource,
  faults: SettingDiagnostics,
  format?: SettingsSource['format'],
): PermissionSettings {
  const value = faults.check(raw, ['permissions'], isRecord, 'must be an object') ?? {};
  checkMembers(value, MEMBERS, ['permissions'], faults);
  const counts = activeRuleCounts(value, source);
  const rules = EFFECTS.flatMap((effect) => {
    const path = ['permissions', effect];
    const list = value[effect];
    const count = counts[effect] ?? Infinity;
    const isCut = Array.isArray(list) && list.length > count;
    if (isCut) faults.error([...path, count], TOO_MANY_RULES);
    return faults.texts(isCut ? list.slice(0, count) : list, path).flatMap(({ text, at }) => {
      // The CLI has patterns for tools that Toolplane does not have, such as `WebFetch(domain:…)`.
      if (format === 'claude' && isOnlyElsewhere(text.replace(/\(.*$/s, '').trim())) return [];
      const { rule, fault, remark } = readRule(text, effect, source);
      if (fault !== undefined) faults.error([...path, at], fault);
      if (remark !== undefined) faults.warning([...path, at], remark);
      return rule ?? [];
    });
  });
  const directories = faults.texts(value.additionalDirectories, ['permissions', 'additionalDirectories']);
  const mode = faults.check(
    value.defaultMode,
    ['permissions', 'defaultMode'],
    isMode,
    `must be one of ${PERMISSION_MODES.join(', ')}`,
  );
  const bypass = faults.check(
    value.disableBypassPermissionsMode,
    ['permissions', 'disableBypassPermissionsMode'],
    (it): it is 'disable' => it === 'disable',
    'must be "disable" or left out',
  );
  const switches = Object.entries(SWITCHES).flatMap(([member, name]) => {
    const path = ['permissions', member];
    const isOn = faults.check(value[member], path, (it) => typeof it === 'boolean', 'must be true or false');
    if (isOn && name === 'deniesPrompts' && IN_PROJECT.has(source)) {
      faults.warning(path, 'has no effect in a file of a project; set it in your own settings');
      return [];
    }
    return isOn ? [[name, true] as const] : [];
  });
  return {
    rules,
    directories: directories.map(({ text }) => text),
    ...(mode && { defaultMode: mode }),
    ...(bypass && { forbidsBypass: true }),
    ...Object.fromEntries(switches),
  };
}

/**
 * The number of active items per list. A project's file is read before it is approved, and every call is compared with
 * every rule, so the number is limited; deny rules are counted first.
 */
function activeRuleCounts(
  value: Readonly<Record<string, unknown>>,
  source: RuleSource,
): Readonly<Record<string, number>> {
  if (!IN_PROJECT.has(source)) return {};
  let rules = MAX_PROJECT_RULES;
  let characters = MAX_PROJECT_RULE_CHARACTERS;
  const counts = EFFECTS.toReversed().map((effect) => {
    const list: readonly unknown[] = Array.isArray(value[effect]) ? value[effect] : [];
    const end = list.findIndex((item) => {
      rules -= 1;
      characters -= typeof item === 'string' ? item.length : 0;
      return rules < 0 || characters < 0;
    });
    return [effect, end === -1 ? list.length : end] as const;
  });
  return Object.fromEntries(counts);
}

const MAX_PROJECT_RULES = 2000;
const MAX_PROJECT_RULE_CHARACTERS = 128 * 1024;
const TOO_MANY_RULES =
  'this rule and those after it are ignored: a project file may have at most ' +
  `${MAX_PROJECT_RULES} rules with ${MAX_PROJECT_RULE_CHARACTERS} characters in total`;

function isMode(value: unknown): value is PermissionMode {
  return (PERMISSION_MODES as readonly unknown[]).includes(value);
}

/** A parsed rule, or why it is invalid; `remark` is a warning about either. */
type ReadRule = { readonly rule?: Rule; readonly fault?: string; readonly remark?: string };

/**
 * An invalid deny or ask rule is a fault; an invalid allow rule only produces a warning. A rule for an unknown tool is
 * kept, with a warning.
 */
function readRule(text: string, effect: PermissionBehavior, source: RuleSource): ReadRule {
  const parsed = parseRule(text, effect, source);
  if (parsed.ok) {
    const remark = unknownToolWarning(parsed.rule);
    return { rule: parsed.rule, ...(remark !== undefined && { remark }) };
  }
  const { message } = parsed.diagnostic;
  return effect === 'allow' ? { remark: `${message}; the rule allows nothing` } : { fault: message };
}

/** Parses several rules. */
export function readRules(
  texts: readonly string[],
  effect: PermissionBehavior,
  source: RuleSource,
): { readonly rules: Rule[]; readonly faults: string[]; readonly notes: string[] } {
  const read = texts.map((text) => readRule(text, effect, source));
  return {
    rules: read.flatMap(({ rule }) => rule ?? []),
    faults: read.flatMap(({ fault }) => fault ?? []),
    notes: read.flatMap(({ remark }) => remark ?? []),
  };
}

/** The warning about a rule for an unknown tool; none for MCP tools and for tools of other agents. */
export function unknownToolWarning(rule: Rule): string | undefined {
  const { tool } = rule;
  if (tool === '*' || isMcpToolName(tool) || BUILT_IN_TOOLS.includes(tool) || ELSEWHERE.has(tool))
    return undefined;
  const guess = nearest(tool, BUILT_IN_TOOLS);
  const message = `rule "${ruleText(rule)}" names an unknown tool`;
  return `${message}; ${guess === undefined ? 'check the name' : `did you mean "${guess}"?`}`;
}

/** A tool of another agent, also of a newer version; a name that resembles one of ours may be misspelled. */
function isOnlyElsewhere(tool: string): boolean {
  if (ELSEWHERE.has(tool)) return true;
  const isOurs = BUILT_IN_TOOLS.includes(tool) || isMcpToolName(tool);
  return !isOurs && /^[A-Z]\w*$/.test(tool) && nearest(tool, BUILT_IN_TOOLS) === undefined;
}

/** The names of built-in tools; settings are read before the tools are loaded. */
export const BUILT_IN_TOOLS: readonly string[] = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'ClaimTask',
  'CompleteTask',
  'CronCreate',
  'CronDelete',
  'CronList',
  'Edit',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'Glob',
  'Grep',
  'ListMcpResourcesTool',
  'ListAgents',
  'Monitor',
  'NotebookEdit',
  'Read',
  'ReadMcpResourceTool',
  'ScheduleWakeup',
  'SendMessage',
  'Skill',
  'Sleep',
  'SubmitPlan',
  'TaskStop',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
  'Write',
  'connect_mcp',
];

/** Tools of other agents: rules for them are valid, but have no effect here. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'BashOutput',
  'KillBash',
  'KillShell',
  'LS',
  'LSP',
  'ListMcpResources',
  'MultiEdit',
  'NotebookRead',
  'PowerShell',
  'ReadMcpResource',
  'SlashCommand',
  'StructuredOutput',
  'TaskOutput',
  'TodoRead',
]);
