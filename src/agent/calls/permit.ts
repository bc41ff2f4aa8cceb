import type { SessionHooks } from '../../hooks/session-hooks.ts';
import { type Asker, askPeople, type Question } from '../../permissions/ask.ts';
import type { Decision, Reason } from '../../permissions/decide.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { PermissionMode, PermissionUpdate } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { displayName } from './display-name.ts';
import { type PoolCall, ruleCall, toolFields, type Who } from './pool-call.ts';
import { suggest } from './suggest.ts';
import { weigh } from './weigh.ts';

/** What one call may do, why, and who said so. */
export type Permit =
  /** The call is what was decided on, and nothing else may be run for it. */
  | { readonly kind: 'allowed'; readonly call: PoolCall; readonly by: PermitReason }
  /** It cannot be made, whoever allows it, so nobody was asked. */
  | { readonly kind: 'failed'; readonly failure: unknown; readonly by: PermitReason }
  | {
      readonly kind: 'refused';
      /** What the model is told. */
      readonly text: string;
      readonly by: PermitReason;
      /** The whole turn is to end. */
      readonly interrupt?: true;
    };

/** For explaining: the sentence, and the rule or mode it rests on, or the one who answered. */
export type PermitReason = Reason & { readonly answeredBy?: string };

export type PermitWorld = {
  readonly hooks: SessionHooks;
  /** Who calls, as hooks are told; nobody is the lead. */
  readonly who: Who;
  mode(): PermissionMode;
  workspace(): Workspace;
  /**
   * The call with its paths as the file system sees them, and its tool as the server lists it now; or why that must not
   * be, or cannot. What was resolved once stays with the server and the definition it has.
   */
  resolve(call: PoolCall, signal: AbortSignal): Promise<Resolved>;
  decide(call: PoolCall): Decision;
  readonly askers: readonly Asker[];
  applyUpdates(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Whether a rule for this project outlasts the session. */
  keepsRules(): boolean;
  /** Somebody was shown how the tool differs from what was accepted, and let it run. */
  accept(call: PoolCall): void;
  /** Around a question: the session waits for somebody. */
  waiting<T>(work: Promise<T>): Promise<T>;
  /** A hook has something to tell the model. */
  note(text: string): void;
  /** A hook wants the agent to stop. */
  stop(why: string): void;
};

export type Resolved = PoolCall | { readonly fault: string } | { readonly failure: unknown };

/** Hooks first, then rules and mode, then people: the first clear word of whoever may say it. Never rejects. */
export async function permit(asked: PoolCall, world: PermitWorld, signal: AbortSignal): Promise<Permit> {
  const { hooks } = world;
  const fields = { ...world.who, ...toolFields(asked), tool_use_id: asked.id };
  const before = await hooks.run('PreToolUse', fields, signal, asked.id);
  if (before.additionalContext !== undefined) world.note(before.additionalContext);
  if (before.stop !== undefined) {
    world.stop(before.stop);
    return refused(before.stop, { text: before.stop });
  }
  const given = before.updatedInput ? withInput(asked, before.updatedInput) : asked;
  const call = await world.resolve(given, signal);
  if ('fault' in call) return refused(call.fault, { text: call.fault });
  if ('failure' in call) return failed(call.failure);
  const decision = weigh(world.decide(call), before, world.mode());
  const { reason } = decision;
  switch (decision.kind) {
    case 'allow':
      if (reason.changed) world.accept(call);
      return allowed(call, reason);
    case 'deny':
      return refused(
        before.decision === 'deny' ? `PreToolUse:${call.tool.name} hook error: ${reason.text}` : reason.text,
        reason,
      );
    case 'ask':
      return world.waiting(ask(call, reason, world, signal));
  }
}

async function ask(call: PoolCall, reason: Reason, world: PermitWorld, signal: AbortSignal): Promise<Permit> {
  const question: Question = {
    call: ruleCall(call, call.input),
    toolUseId: call.id,
    displayName: displayName(call),
    reason,
    suggestions: suggest(call, world.workspace(), world.keepsRules() ? 'localSettings' : 'session'),
    ...(call.provenance && { provenance: call.provenance }),
    ...(world.who.agent_id !== undefined && { agentId: world.who.agent_id }),
  };
  const hook = hookAsker(call, question, world);
  const askers = hook ? [hook, ...world.askers] : world.askers;
  void world.hooks.run(
    'Notification',
    {
      ...world.who,
      message: `Permission is needed to use ${call.tool.name}`,
      notification_type: 'permission_prompt',
    },
    signal,
  );
  const { result, from } = await askPeople(askers, question, signal);
  const by: PermitReason = { ...reason, ...(from !== undefined && { answeredBy: from }) };
  if (result.behavior === 'deny') {
    return { ...refused(result.message, by), ...(result.interrupt && { interrupt: true as const }) };
  }
  if (reason.changed && from !== hook?.name) world.accept(call);
  if (result.updatedPermissions) {
    // Only a person's answer is written down: what a hook says may follow from what the model wrote.
    const updates = from === hook?.name ? forSession(result.updatedPermissions) : result.updatedPermissions;
    await world.applyUpdates(updates);
  }
  return result.updatedInput
    ? changed(withInput(call, result.updatedInput), by, world, signal)
    : allowed(call, by);
}

/** Whoever answered may have changed the input, but not into something that is denied. */
async function changed(
  call: PoolCall,
  by: PermitReason,
  world: PermitWorld,
  signal: AbortSignal,
): Promise<Permit> {
  const resolved = await world.resolve(call, signal);
  if ('fault' in resolved) return refused(resolved.fault, by);
  if ('failure' in resolved) return failed(resolved.failure);
  const decision = world.decide(resolved);
  return decision.kind === 'deny' ? refused(decision.reason.text, decision.reason) : allowed(resolved, by);
}

function forSession(updates: readonly PermissionUpdate[]): PermissionUpdate[] {
  return updates.map((update) => ({ ...update, destination: 'session' }));
}

/** What was written before no longer matters. */
function withInput({ written: _, ...call }: PoolCall, input: PoolCall['input']): PoolCall {
  return { ...call, input };
}

function allowed(call: PoolCall, by: PermitReason): Permit {
  return { kind: 'allowed', call, by };
}

function failed(failure: unknown): Permit {
  return { kind: 'failed', failure, by: { text: messageOf(failure) } };
}

/** `PermissionRequest` hooks answer beside people; without an opinion they leave it to them. */
function hookAsker(
  call: PoolCall,
  { suggestions }: Question,
  { hooks, who }: PermitWorld,
): Asker | undefined {
  if (!hooks.has('PermissionRequest')) return undefined;
  return {
    name: 'PermissionRequest hook',
    ask: async (_, signal) => {
      const fields = { ...who, ...toolFields(call), permission_suggestions: [...suggestions] };
      const effect = await hooks.run('PermissionRequest', fields, signal, call.id);
      if (effect.decision === 'deny') {
        const message = effect.reason ?? 'A PermissionRequest hook denied it';
        return { behavior: 'deny', message, interrupt: effect.interrupt };
      }
      if (effect.decision !== 'allow') throw new Error('it has no opinion');
      const { updatedInput, updatedPermissions } = effect;
      return { behavior: 'allow', updatedInput, updatedPermissions };
    },
  };
}

function refused(text: string, by: PermitReason): Extract<Permit, { kind: 'refused' }> {
  return { kind: 'refused', text, by };
}
