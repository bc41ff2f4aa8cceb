import { isRecord } from '../base/json-value.ts';
import { isPermissionUpdate } from '../permissions/ask.ts';
import type { PermissionUpdate } from '../protocol/permission.ts';

/** What hooks decide about a call; `defer` ends the turn without the call. */
export type HookDecision = 'allow' | 'ask' | 'defer' | 'deny';

/** The effect of hooks; `deny` means "block" for events without a tool. */
export type HookEffect = {
  readonly decision?: HookDecision;
  readonly reason?: string;
  /** A failed hook denies, and no other. */
  readonly hasFailed?: true;
  readonly updatedInput?: Readonly<Record<string, unknown>>;
  readonly updatedPermissions?: readonly PermissionUpdate[];
  /** Wrapped, because the replacement may be any value. */
  readonly updatedOutput?: { readonly value: unknown };
  readonly elicitation?: { readonly action: string; readonly content?: unknown };
  readonly additionalContext?: string;
  readonly systemMessage?: string;
  /** The directory that a WorktreeCreate hook has made. */
  readonly worktreePath?: string;
  /** Ends the turn as well; only with a denied permission. */
  readonly interrupt?: true;
  /** Stops the agent; the value is the reason. */
  readonly stop?: string;
};

/** Parses the output of a hook; throws if it is invalid, which counts as a failure of the hook. */
export function readHookOutput(output: unknown): HookEffect {
  if (output === undefined || output === null) return {};
  if (!isRecord(output)) throw new Error('the hook output must be a JSON object');
  if (output.async === true) return {};
  const specific = output.hookSpecificOutput ?? {};
  if (!isRecord(specific)) throw new Error('"hookSpecificOutput" must be an object');
  const request = specific.decision ?? {};
  if (!isRecord(request)) throw new Error('"hookSpecificOutput.decision" must be an object');

  const decision = parseDecision(specific.permissionDecision ?? request.behavior ?? output.decision);
  const reason = text(specific.permissionDecisionReason ?? request.message ?? output.reason);
  const updatedInput = specific.updatedInput ?? request.updatedInput ?? undefined;
  if (updatedInput !== undefined && !isRecord(updatedInput))
    throw new Error('"updatedInput" must be an object');
  const updates = request.updatedPermissions ?? [];
  if (!Array.isArray(updates) || !updates.every(isPermissionUpdate)) {
    throw new Error('"updatedPermissions" must be a list of permission updates');
  }
  const value = specific.updatedToolOutput ?? specific.updatedMCPToolOutput;
  const additionalContext = text(specific.additionalContext);
  const systemMessage = text(output.systemMessage);
  const worktreePath = text(specific.worktreePath);
  return {
    ...(decision && { decision }),
    ...(reason !== undefined && { reason }),
    ...(updatedInput && { updatedInput }),
    ...(updates.length > 0 && { updatedPermissions: updates }),
    ...(value !== undefined && { updatedOutput: { value } }),
    ...(typeof specific.action === 'string' && {
      elicitation: { action: specific.action, content: specific.content },
    }),
    ...(request.interrupt === true && { interrupt: true as const }),
    ...(additionalContext !== undefined && { additionalContext }),
    ...(systemMessage !== undefined && { systemMessage }),
    ...(worktreePath !== undefined && { worktreePath }),
    ...(output.continue === false && { stop: text(output.stopReason) ?? 'a hook stopped the agent' }),
  };
}

/** Merges effects: deny overrides defer, defer overrides ask, ask overrides allow, the last replacement wins, and texts are joined. */
export function mergeEffects(effects: readonly HookEffect[]): HookEffect {
  const decision = (['deny', 'defer', 'ask', 'allow'] as const).find((it) =>
    effects.some((one) => one.decision === it),
  );
  const deciding = effects.filter((one) => one.decision === decision);
  const updates = effects.flatMap((one) => one.updatedPermissions ?? []);
  const merged = {
    decision,
    reason: joined(deciding, 'reason'),
    hasFailed: deciding.length > 0 && deciding.every((one) => one.hasFailed) ? (true as const) : undefined,
    updatedInput: last(effects, 'updatedInput'),
    updatedPermissions: updates.length > 0 ? updates : undefined,
    updatedOutput: last(effects, 'updatedOutput'),
    elicitation: last(effects, 'elicitation'),
    additionalContext: joined(effects, 'additionalContext'),
    systemMessage: joined(effects, 'systemMessage'),
    worktreePath: last(effects, 'worktreePath'),
    interrupt: decision === 'deny' ? last(deciding, 'interrupt') : undefined,
    stop: effects.find((one) => one.stop !== undefined)?.stop,
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) as HookEffect;
}

function last<K extends keyof HookEffect>(
  effects: readonly HookEffect[],
  member: K,
): HookEffect[K] | undefined {
  return effects.findLast((one) => one[member] !== undefined)?.[member];
}

function joined(
  effects: readonly HookEffect[],
  member: 'reason' | 'additionalContext' | 'systemMessage',
): string | undefined {
  const texts = effects.flatMap((one) => one[member] || []);
  return texts.length > 0 ? texts.join('\n') : undefined;
}

function parseDecision(value: unknown): HookDecision | undefined {
  if (value === undefined || value === null) return undefined;
  const found = typeof value === 'string' && Object.hasOwn(DECISIONS, value) ? DECISIONS[value] : undefined;
  if (!found)
    throw new Error(`unknown hook decision ${JSON.stringify(value)}; use allow, ask, defer or deny`);
  return found;
}

const DECISIONS: Readonly<Record<string, HookDecision>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  defer: 'defer',
  deny: 'deny',
  block: 'deny',
};

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
