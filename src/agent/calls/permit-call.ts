import { isEqualJson } from '../../base/json-value.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import { type Asker, askPeople, type Question } from '../../permissions/ask.ts';
import { commandEffect } from '../../permissions/commands/command-effect.ts';
import type { Decision, Reason } from '../../permissions/decide.ts';
import { absolutePath, isInWorkspace, isProtectedPath, type Workspace } from '../../permissions/path.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import { editsFiles, subjectOf } from '../../permissions/subject.ts';
import { suggestUpdates } from '../../permissions/suggested-rules.ts';
import type { ToolChange } from '../../pool/pinning/tool-change.ts';
import type { PermissionMode, PermissionUpdate } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { CallContext } from './call-context.ts';
import { decideCall } from './decide-call.ts';
import { agentFields, displayName, hookFields, type PoolCall } from './pool-call.ts';
import { resolveCall } from './resolve-call.ts';

/** Whether a call may run, and why. */
export type Permit =
  /** Only `call` may run: it is the call that was decided on, resolved and with the input that hooks and people set. */
  | { readonly kind: 'allowed'; readonly call: PoolCall; readonly by: PermitReason }
  /** The call cannot be made, for example because its server is not reachable, so nothing was decided. */
  | { readonly kind: 'failed'; readonly failure: unknown; readonly by: PermitReason }
  /** A PreToolUse hook decided that the turn ends without the call. */
  | { readonly kind: 'deferred'; readonly by: PermitReason }
  | {
      readonly kind: 'refused';
      /** The text of the result that the model gets. */
      readonly text: string;
      readonly by: PermitReason;
      /** A hook failed; nobody denied the call. */
      readonly isFailure?: true;
      /** The answer ends the whole turn. */
      readonly interrupt?: true;
    };

/** The reason of a decision, and the name of the asker that answered, if one was asked, and of its channel. */
type PermitReason = Reason & { readonly answeredBy?: string; readonly channel?: string };

/** Asks PreToolUse hooks, then rules and the permission mode, then people; the first definite decision wins. Never rejects. */
export async function permitCall(
  asked: PoolCall,
  context: CallContext,
  signal: AbortSignal,
): Promise<Permit> {
  const { session } = context;
  const fields = { ...agentFields(context), ...hookFields(asked), tool_use_id: asked.id };
  const hook = await session.hooks.run('PreToolUse', fields, signal, asked.id);
  if (hook.additionalContext !== undefined) context.addNote(hook.additionalContext);
  if (hook.stop !== undefined) {
    context.stop(hook.stop);
    return refused(hook.stop, { text: hook.stop });
  }
  if (hook.decision === 'defer')
    return { kind: 'deferred', by: { text: hook.reason ?? 'a PreToolUse hook deferred the call' } };
  const given = hook.updatedInput ? withInput(asked, hook.updatedInput) : asked;
  const resolved = await resolveCall(given, context, signal);
  if (resolved.kind === 'refused') return refused(resolved.reason, { text: resolved.reason });
  if (resolved.kind === 'failed') return failed(resolved.failure);
  const { call } = resolved;
  const { decision: byRules, change } = decideCall(call, context);
  const { kind, reason } = applyHookDecision(byRules, hook, modeOf(session.rules.current()));
  switch (kind) {
    case 'allow':
      if (reason.changed && change) session.pins.accept(change);
      return { kind: 'allowed', call, by: reason };
    case 'deny':
      if (hook.decision !== 'deny') return refused(reason.text, reason);
      return {
        ...refused(`PreToolUse:${call.name} hook error: ${reason.text}`, reason),
        ...(hook.hasFailed && { isFailure: true as const }),
      };
    case 'ask':
      return session.whileWaiting(askForPermit(call, reason, change, context, signal));
  }
}

async function askForPermit(
  call: PoolCall,
  reason: Reason,
  change: ToolChange | undefined,
  context: CallContext,
  signal: AbortSignal,
): Promise<Permit> {
  const { session, agent } = context;
  const { agent_id: agentId } = agent.identity;
  const destination = session.rules.keeps?.('localSettings') === true ? 'localSettings' : 'session';
  await session.askersReady?.(signal);
  // A channel answers yes or no, which is no answer to a question.
  const people = session.askers.filter(({ channels }) => !channels || !call.builtIn?.asksQuestion);
  const relayedTo = people.flatMap(({ channels }) => channels ?? []);
  const question: Question = {
    call,
    toolUseId: call.id,
    displayName: call.server === undefined ? call.name : displayName(call),
    ...describedBy(call, session.workspace()),
    reason,
    suggestions: suggestUpdates(call, session.workspace(), destination),
    ...(call.provenance && { provenance: call.provenance }),
    ...(agentId !== undefined && { agentId }),
    ...(relayedTo.length > 0 && { relayedTo }),
  };
  const hook = permissionRequestHook(call, question, context);
  const notification = {
    ...agent.identity,
    message: `Permission is needed to use ${call.name}`,
    notification_type: 'permission_prompt',
  };
  void session.hooks.run('Notification', notification, signal);
  const askers = hook ? [hook, ...people] : people;
  const { result, from, channel } = await askPeople(askers, question, signal);
  const by: PermitReason = {
    ...reason,
    ...(from !== undefined && { answeredBy: from }),
    ...(channel !== undefined && { channel }),
  };
  if (result.behavior === 'deny') {
    return { ...refused(result.message, by), ...(result.interrupt && { interrupt: true as const }) };
  }
  const isHookAnswer = hook !== undefined && from === hook.name;
  // Only a person who saw the change accepts it: a hook may act on text that the model wrote, a channel shows no changes.
  const sawChange = !isHookAnswer && people.some(({ name, channels }) => name === from && !channels);
  if (reason.changed && change && sawChange) session.pins.accept(change);
  if (result.updatedPermissions) {
    const updates = result.updatedPermissions;
    await applyUpdates(isHookAnswer ? updates.map(forSession) : updates, context);
  }
  const approved: PoolCall = sawChange ? { ...call, isApproved: true } : call;
  if (!result.updatedInput || isEqualJson(result.updatedInput, call.input))
    return { kind: 'allowed', call: approved, by };
  return permitUpdatedInput(withInput(call, result.updatedInput), by, context, signal);
}

/** The answer may replace the input, but not with one that a rule denies. */
async function permitUpdatedInput(
  call: PoolCall,
  by: PermitReason,
  context: CallContext,
  signal: AbortSignal,
): Promise<Permit> {
  const resolved = await resolveCall(call, context, signal);
  if (resolved.kind === 'refused') return refused(resolved.reason, by);
  if (resolved.kind === 'failed') return failed(resolved.failure);
  const { kind, reason } = decideCall(resolved.call, context).decision;
  return kind === 'deny' ? refused(reason.text, reason) : { kind: 'allowed', call: resolved.call, by };
}

/** `PermissionRequest` hooks answer side by side with people; a hook without a decision leaves the answer to them. */
function permissionRequestHook(
  call: PoolCall,
  { suggestions }: Question,
  { session, agent }: CallContext,
): Asker | undefined {
  const { hooks } = session;
  if (!hooks.has('PermissionRequest')) return undefined;
  return {
    name: 'PermissionRequest hook',
    ask: async (_, signal) => {
      const fields = {
        ...agentFields({ agent, session }),
        ...hookFields(call),
        permission_suggestions: [...suggestions],
      };
      const effect = await hooks.run('PermissionRequest', fields, signal, call.id);
      if (effect.decision === 'deny') {
        const message = effect.reason ?? 'A PermissionRequest hook denied the call';
        return { behavior: 'deny', message, interrupt: effect.interrupt };
      }
      if (effect.decision !== 'allow') throw new Error('the hook made no decision');
      const { updatedInput, updatedPermissions } = effect;
      return { behavior: 'allow', updatedInput, updatedPermissions };
    },
  };
}

/** Mode `bypassPermissions` is set only if the launch flag for it was given. */
async function applyUpdates(updates: readonly PermissionUpdate[], { session }: CallContext): Promise<void> {
  const isPermitted = (update: PermissionUpdate) =>
    update.type !== 'setMode' || update.mode !== 'bypassPermissions' || session.mayBypass;
  const rejected = await session.rules.apply(updates.filter(isPermitted));
  for (const { message } of rejected) session.note(message);
}

function forSession(update: PermissionUpdate): PermissionUpdate {
  return { ...update, destination: 'session' };
}

function withInput({ originalInput: _, ...call }: PoolCall, input: PoolCall['input']): PoolCall {
  return { ...call, input };
}

function failed(failure: unknown): Permit {
  return { kind: 'failed', failure, by: { text: messageOf(failure) } };
}

function refused(text: string, by: PermitReason): Extract<Permit, { kind: 'refused' }> {
  return { kind: 'refused', text, by };
}

/**
 * Combines the decision of the rules with that of PreToolUse hooks. A hook may always be stricter. It may skip a
 * permission prompt, except one that a rule or the tool itself requires or one about a changed tool, and it never allows
 * what is denied. In mode `dontAsk`, the decision `ask` of a hook becomes a denial.
 */
export function applyHookDecision(
  decision: Decision,
  { decision: hook, reason }: HookEffect,
  mode: PermissionMode,
): Decision {
  if (hook === 'deny') return byHook('deny', reason ?? 'a PreToolUse hook denied the call');
  if (hook === 'ask' && decision.kind === 'allow') {
    const text = reason ?? 'a PreToolUse hook requires approval';
    if (mode !== 'dontAsk') return byHook('ask', text);
    return {
      kind: 'deny',
      reason: { mode, text: `mode dontAsk denies calls that require approval: ${text}` },
    };
  }
  const { rule, annotation, changed } = decision.reason;
  const isRequired = rule !== undefined || changed !== undefined || annotation === 'requiresUserInteraction';
  if (hook === 'ask' && decision.kind === 'ask' && !isRequired && reason !== undefined)
    return byHook('ask', reason);
  if (hook === 'allow' && decision.kind === 'ask' && !isRequired) {
    return byHook('allow', reason ?? 'a PreToolUse hook allowed the call');
  }
  return decision;
}

function byHook(kind: Decision['kind'], text: string): Decision {
  return { kind, reason: { text } };
}

/** What the call does, for people, and the path because of which it requires approval. */
function describedBy(
  call: PoolCall,
  workspace: Workspace,
): { readonly description?: string; readonly blockedPath?: string } {
  if (call.server !== undefined) return {};
  const subject = subjectOf(call.name, call.input);
  if (subject?.kind === 'command') {
    const { description = subject.value } = call.input;
    const { reads = [], edits = [] } = commandEffect(subject.value) ?? {};
    const written = edits.flatMap(({ paths }) => paths);
    const blocked = [...reads, ...written].find(
      (path) =>
        !isInWorkspace(path, workspace) || (written.includes(path) && isProtectedPath(path, workspace)),
    );
    return {
      ...(typeof description === 'string' && { description }),
      ...(blocked !== undefined && { blockedPath: absolutePath(blocked, workspace) }),
    };
  }
  if (subject?.kind !== 'path') {
    const { url } = call.input;
    return typeof url === 'string' ? { description: url } : {};
  }
  const path = absolutePath(subject.value, workspace);
  const isInside = isInWorkspace(path, workspace);
  const isBlocked = !isInside || (editsFiles(call.name) && isProtectedPath(path, workspace));
  return {
    description: path.startsWith(`${workspace.cwd}/`) ? path.slice(workspace.cwd.length + 1) : path,
    ...(isBlocked && { blockedPath: path }),
  };
}
