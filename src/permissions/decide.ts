import type { ToolAnnotations } from '../protocol/mcp.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { CertainEffect } from './commands/command-effect.ts';
import { allowingRules, matchCall, matchesCall, namesTool, type ToolCall } from './match.ts';
import { isInWorkspace, isProtectedPath, type Workspace } from './path.ts';
import { type Rule, ruleText } from './rule.ts';
import type { BlockedOutside } from './rule-store.ts';
import { editsFiles, subjectOf } from './subject.ts';

/** Everything a decision depends on. */
export type Situation = {
  readonly call: ToolCall;
  readonly rules: readonly Rule[];
  readonly mode: PermissionMode;
  /** Whether the launch flag that `bypassPermissions` needs was given; without it that mode is `default`. */
  readonly bypassLaunched: boolean;
  /** Whether the user trusts the server; built-in tools and in-process servers are trusted. */
  readonly trusted: boolean;
  readonly annotations?: ToolAnnotations;
  /** Set for built-in tools that change nothing but the session itself, such as its lists, agents and schedule. */
  readonly approval?: ApprovalNeed;
  /** What the shell command of the call certainly does at most; unknown without a look at the file system. */
  readonly effect?: CertainEffect;
  /** Why this call may write, although its tool is trusted and marked read-only. */
  readonly doubt?: string;
  /** The tool's definition requires user interaction, whatever rules allow. */
  readonly needsPerson?: boolean;
  /**
   * The tool differs from the accepted one: `text` describes the difference on one line, `remedy` says how to accept it
   * outside of the session. A tool that is only new at its server is accepted by an allow rule that names it.
   */
  readonly changed?: { readonly text: string; readonly remedy?: string; readonly isNew?: boolean };
  readonly workspace: Workspace;
  readonly blocksOutside?: BlockedOutside;
};

/** When a call that no rule decides needs approval: never, or only in mode `plan`, which denies it then. */
export type ApprovalNeed = 'never' | 'in-plan-mode';

/** The reason of a decision: the rule, mode or annotation, and a sentence for people. */
export type Reason = {
  readonly rule?: Rule;
  readonly mode?: PermissionMode;
  readonly annotation?: 'readOnlyHint' | 'destructiveHint' | 'requiresUserInteraction';
  /** The tool differs from the accepted one, as `text` describes; allowing the call accepts the tool. */
  readonly changed?: { readonly remedy?: string };
  readonly text: string;
};

/** Whether the call may run, must not run, or needs approval. */
export type Decision = { readonly kind: 'allow' | 'deny' | 'ask'; readonly reason: Reason };

/**
 * Checks deny rules, then ask rules, then allow rules, then the mode; annotations only relax, and only for trusted
 * servers. Mode `bypassPermissions` skips the user's own ask rules, but neither deny rules nor ask rules of
 * `policySettings` or `serverPolicy`, which other people made. A changed tool is always asked about, whatever allows it;
 * in mode `plan` it runs only if a rule allows it, because its annotations are not trusted.
 */
export function decide(situation: Situation): Decision {
  const decision = decideAsking(situation);
  if (decision.kind !== 'ask' || situation.mode !== 'dontAsk') return decision;
  const { remedy } = decision.reason.changed ?? {};
  const asked = remedy === undefined ? decision.reason.text : `${decision.reason.text}; ${remedy}`;
  const text = `mode dontAsk denies calls that require approval: ${asked}`;
  return { kind: 'deny', reason: { ...decision.reason, mode: 'dontAsk', text } };
}

function decideAsking(situation: Situation): Decision {
  const { call, rules, workspace } = situation;
  const bypassing = situation.mode === 'bypassPermissions' && situation.bypassLaunched;
  const find = (effect: Rule['effect'], accepts: (rule: Rule) => boolean = () => true) =>
    rules.find((rule) => rule.effect === effect && accepts(rule) && matchesCall(rule, call, workspace));

  const denied = find('deny');
  if (denied) return byRule('deny', denied);
  const blocked = blockedOutside(situation);
  if (blocked) return blocked;
  const mayAsk = (rule: Rule) => !bypassing || RULES_OF_OTHERS.has(rule.source);
  const asked = find('ask', mayAsk) ?? undecidedRule(situation, mayAsk);
  if (asked) return withChange('reason' in asked ? asked : byRule('ask', asked), situation);
  const allowing = allowingRules(rules, call, workspace);
  const needsPlan = situation.mode === 'plan' && !allowing;
  const naming = situation.changed?.isNew ? find('allow', (rule) => namesTool(rule, call)) : undefined;
  if (situation.changed && !naming && !bypassing && !needsPlan) return askOfChange(situation);
  if (situation.needsPerson === true) {
    const text = `${call.name} requires user interaction`;
    return withChange({ kind: 'ask', reason: { annotation: 'requiresUserInteraction', text } }, situation);
  }
  if (naming) return withChange(byRule('allow', naming), situation);
  if (allowing) return byRules(allowing);
  return bypassing
    ? { kind: 'allow', reason: { mode: 'bypassPermissions', text: 'mode bypassPermissions skips approval' } }
    : byMode(situation);
}

/** Files that the session itself keeps, such as long results, stay readable: rules of the session allow them. */
function blockedOutside({ call, rules, workspace, blocksOutside }: Situation): Decision | undefined {
  const subject = call.server === undefined ? subjectOf(call.name, call.input) : undefined;
  if (!blocksOutside || subject?.kind !== 'path' || isInWorkspace(subject.value, workspace)) return undefined;
  const setting = editsFiles(call.name)
    ? blocksOutside.writes && 'blockWritesOutsideWorkingDirectories'
    : blocksOutside.reads && 'blockReadsOutsideWorkingDirectories';
  const own = rules.filter(({ source, effect }) => source === 'session' && effect === 'allow');
  if (!setting || own.some((rule) => matchesCall(rule, call, workspace))) return undefined;
  return {
    kind: 'deny',
    reason: { text: `${subject.value} is outside the workspace, and permissions.${setting} is set` },
  };
}

/** Asks if a deny or ask rule may match a shell command, but cannot be compared with certainty. */
function undecidedRule(
  { rules, call, workspace }: Situation,
  mayAsk: (rule: Rule) => boolean,
): Decision | undefined {
  for (const rule of rules) {
    if (rule.effect === 'allow' || (rule.effect === 'ask' && !mayAsk(rule))) continue;
    const match = matchCall(rule, call, workspace);
    if (match.kind !== 'maybe') continue;
    const text = `${rule.effect} rule "${ruleText(rule)}" of ${rule.source} cannot be checked against this command: ${match.reason}`;
    return { kind: 'ask', reason: { rule, text } };
  }
  return undefined;
}

/** Adds the change of the tool to a decision that has another reason. */
function withChange({ kind, reason }: Decision, { changed }: Situation): Decision {
  if (!changed) return { kind, reason };
  const { text, remedy } = changed;
  return {
    kind,
    reason: { ...reason, changed: remedy === undefined ? {} : { remedy }, text: `${reason.text}; ${text}` },
  };
}

function askOfChange(situation: Situation): Decision {
  const { call, mode, needsPerson } = situation;
  const reason: Reason = {
    mode,
    ...(needsPerson === true && { annotation: 'requiresUserInteraction' }),
    text: situation.changed?.isNew
      ? `${call.name} is not accepted yet`
      : `the definition of ${call.name} is not accepted`,
  };
  return withChange({ kind: 'ask', reason }, situation);
}

const RULES_OF_OTHERS: ReadonlySet<string> = new Set(['policySettings', 'serverPolicy']);

function byRule(kind: Decision['kind'], rule: Rule): Decision {
  return { kind, reason: { rule, text: `${kind} rule "${ruleText(rule)}" of ${rule.source}` } };
}

function byRules(rules: readonly Rule[]): Decision {
  const [first] = rules as [Rule, ...Rule[]];
  if (rules.length === 1) return byRule('allow', first);
  const named = rules.map((rule) => `"${ruleText(rule)}" of ${rule.source}`).join(', ');
  return { kind: 'allow', reason: { rule: first, text: `allow rules ${named}` } };
}

function byMode(situation: Situation): Decision {
  const { call, mode, workspace, trusted } = situation;
  const subject = subjectOf(call.name, call.input);
  const path = subject?.kind === 'path' && call.server === undefined ? subject.value : undefined;
  const outside = path !== undefined && !isInWorkspace(path, workspace);
  const { annotations: { readOnlyHint, destructiveHint } = {}, effect, doubt, changed, approval } = situation;
  const isKnown = trusted && changed === undefined && doubt === undefined;
  const readOnly = isKnown && readOnlyHint === true && destructiveHint !== true;

  if (isKnown && effect === 'reads')
    return { kind: 'allow', reason: { mode, text: 'the command only reads files of the workspace' } };
  if (readOnly && !outside) {
    return { kind: 'allow', reason: { mode, annotation: 'readOnlyHint', text: `${call.name} is read-only` } };
  }
  if (approval === 'never' || (approval === 'in-plan-mode' && mode !== 'plan'))
    return { kind: 'allow', reason: { mode, text: `${call.name} needs no approval` } };
  if (mode === 'plan' && !readOnly) {
    return {
      kind: 'deny',
      reason: {
        mode,
        text: `mode plan runs only read-only tools: ${doubt ?? `${call.name} is not read-only`}`,
      },
    };
  }
  if (isKnown && effect === 'edits' && mode === 'acceptEdits')
    return { kind: 'allow', reason: { mode, text: 'mode acceptEdits allows edits of workspace files' } };
  if (outside) return { kind: 'ask', reason: { mode, text: `${path} is outside the workspace` } };
  if (mode === 'acceptEdits' && path !== undefined && editsFiles(call.name)) {
    if (isProtectedPath(path, workspace)) {
      return {
        kind: 'ask',
        reason: {
          mode,
          text: `mode acceptEdits requires approval for ${path}, because editing it can cause code to run later`,
        },
      };
    }
    return {
      kind: 'allow',
      reason: { mode, text: `mode acceptEdits allows edits of workspace files: ${path}` },
    };
  }
  return { kind: 'ask', reason: { mode, ...whyAsk(situation) } };
}

/** A tool without annotations counts as destructive, which is the default of MCP. */
function whyAsk({ call, annotations, mode, doubt }: Situation): Reason {
  const unlaunched = mode === 'bypassPermissions' ? ' (bypassPermissions was not enabled at launch)' : '';
  if (doubt !== undefined) return { annotation: 'readOnlyHint', text: doubt + unlaunched };
  if (annotations?.readOnlyHint === true && annotations.destructiveHint !== true) {
    const text = `${call.name} is marked read-only, but its server is not trusted`;
    return { annotation: 'readOnlyHint', text: text + unlaunched };
  }
  if (annotations?.destructiveHint !== false) {
    return { annotation: 'destructiveHint', text: `${call.name} may be destructive${unlaunched}` };
  }
  return { annotation: 'readOnlyHint', text: `${call.name} is not marked read-only${unlaunched}` };
}
