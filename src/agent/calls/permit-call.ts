import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import { type Asker, askPeople, type Question } from '../../permissions/ask.ts';
import type { Decision, Reason } from '../../permissions/decide.ts';
import { narrowRules } from '../../permissions/match.ts';
import { isInWorkspace, isProtectedPath, type Workspace } from '../../permissions/path.ts';

import { editsFiles, subjectOf } from '../../permissions/subject.ts';
import type { PermissionMode, PermissionRuleValue, PermissionUpdate } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { displayName, type PoolCall, ruleCall, toolFields, type Who } from './pool-call.ts';

/** What one call may do, why, and who said so. */
export type Permit =
  /** The call is what was decided on, and nothing else may be run for it. */
  | { readonly kind: 'allowed'; readonly call: PoolCall; readonly by: PermitReason }
  /** It cannot be made, whoever allows it, so nobody was asked. */
  | { readonly kind: 'failed'; readonly failure: unknown; readonly by: PermitReason }
  | {
      readonly kind: 'refused';
      /** The text that the model receives. */
      readonly text: string;
      readonly by: PermitReason;
      /** The whole turn is to end. */
      readonly interrupt?: true;
    };

/** For explaining: the sentence, and the rule or mode it rests on, or the one who answered. */
type PermitReason = Reason & { readonly answeredBy?: string };

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

/**
 * The decision once a hook has spoken. A hook may always be stricter. It may spare a person's question, but not one that
 * a rule or the tool itself demands, nor one about a tool that is not what was accepted, and it never opens what is denied. Mode `dontAsk` asks nobody, whoever wants it to.
 */
export function weigh(
  decision: Decision,
  { decision: hook, reason }: HookEffect,
  mode: PermissionMode,
): Decision {
  if (hook === 'deny') return byHook('deny', reason ?? 'a PreToolUse hook denied it');
  if (hook === 'ask' && decision.kind === 'allow') {
    const text = reason ?? 'a PreToolUse hook asks';
    if (mode !== 'dontAsk') return byHook('ask', text);
    return { kind: 'deny', reason: { mode, text: `mode dontAsk denies what would be asked: ${text}` } };
  }
  const { rule, annotation, changed } = decision.reason;
  const isDemanded = rule !== undefined || changed !== undefined || annotation === 'requiresUserInteraction';
  if (hook === 'allow' && decision.kind === 'ask' && !isDemanded) {
    return byHook('allow', reason ?? 'a PreToolUse hook allowed it');
  }
  return decision;
}

function byHook(kind: Decision['kind'], text: string): Decision {
  return { kind, reason: { text } };
}

/**
 * What "always allow" would change for a call like this; nothing if it has to be asked about every time. A rule goes to
 * `destination`; a mode is for the session, since it is about more than this call.
 */
export function suggest(
  call: PoolCall,
  workspace: Workspace,
  destination: 'localSettings' | 'session' = 'session',
): PermissionUpdate[] {
  const { tool } = call;
  if (tool.listed._meta?.['anthropic/requiresUserInteraction'] === true) return [];
  if (tool.origin.kind === 'builtin' && editsFiles(tool.name) && isOrdinary(call, workspace)) {
    return [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
  }
  return [{ type: 'addRules', rules: rulesFor(call, workspace), behavior: 'allow', destination }];
}

/** Whether mode `acceptEdits` would allow the edit. */
function isOrdinary(call: PoolCall, workspace: Workspace): boolean {
  return subjects(call).every(
    ({ value }) => isInWorkspace(value, workspace) && !isProtectedPath(value, workspace),
  );
}

/** A server's tool has no subject that rules could name. */
function rulesFor(call: PoolCall, workspace: Workspace): PermissionRuleValue[] {
  const { tool } = call;
  return tool.origin.kind === 'builtin'
    ? narrowRules(tool.name, inputs(call), workspace)
    : [{ toolName: tool.name }];
}

function subjects(call: PoolCall) {
  return inputs(call).flatMap((it) => subjectOf(call.tool.name, it) ?? []);
}

/** The input as it is and as it was written: it is decided on both. */
function inputs({ input, written }: PoolCall): PoolCall['input'][] {
  return [input, ...(written ? [written] : [])];
}
