import { isRecord } from '../../base/json-value.ts';
import { absolutePath, type Workspace } from '../../permissions/path.ts';
import type { Pool, PooledTool } from '../../pool/pool.ts';
import { serverArguments } from '../../pool/schema/model-schema.ts';
import { nearestToolName } from '../../pool/search/search-pool.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { currentToolName } from '../../protocol/tool-name.ts';
import { type BuiltIn, invalidInput } from '../builtins/built-in.ts';
import { failedOutcome, type PreparedCall, type ToolOutcome, type ToolUse } from '../loop/run-calls.ts';
import { openLongCall } from './background-call.ts';
import type { CallContext, SessionContext } from './call-context.ts';
import { type Permit, permitCall } from './permit-call.ts';
import { agentFields, hookFields, type PoolCall } from './pool-call.ts';
import { trustOf } from './resolve-call.ts';
import { failCall, runCall } from './run-call.ts';

/** Finds the tool of a `tool_use` in the pool and decides whether it may run. A call that may not is answered at once. */
export async function prepareCall(
  given: ToolUse,
  context: CallContext,
  signal: AbortSignal,
): Promise<PreparedCall> {
  const { session, agent, pool } = context;
  const use = completedUse({ ...given, name: currentToolName(given.name) }, context.session);
  const tool = pool.byName.get(use.name);
  if (!tool) return answered(unknownTool(use.name, pool));
  // A deferred tool that the model calls by its name is sent to the model from the next round on.
  agent.disclosure.load([use.name]);
  if (context.stopReason !== undefined) {
    return answered(`The agent was stopped before this call: ${context.stopReason}`);
  }
  const call = toPoolCall(use, tool, context);
  const faults = call.builtIn?.faults(call.input) ?? [];
  if (faults.length > 0) return { kind: 'answered', outcome: invalidInput(use.name, faults) };
  const refusal = call.builtIn?.refusal?.(call.input, session.services);
  if (refusal !== undefined) return answered(refusal);
  const permit = await permitCall(call, context, signal);
  if (session.reportsDecisions) session.emit(decisionMessage(call, permit));
  switch (permit.kind) {
    case 'allowed':
      return {
        kind: 'run',
        isConcurrent: isConcurrent(permit.call),
        run: (within) => {
          const long = openLongCall(permit.call, context, within);
          return long
            ? long.outcome(runCall(permit.call, long))
            : runCall(permit.call, { context, signal: within });
        },
      };
    case 'failed':
      return { kind: 'answered', outcome: await failCall(call, permit.failure, context, signal) };
    case 'deferred':
      return { kind: 'answered', outcome: deferredOutcome(agent.parentToolUseId === null) };
    case 'refused':
      if (!permit.isFailure)
        context.denials.push({ tool_name: use.name, tool_use_id: use.id, tool_input: use.input });
      await reportDenial(call, permit, context, signal);
      if (permit.interrupt) context.interrupt();
      return answered(permit.text);
  }
}

/** Only the lead's turn ends: the agent that started a sub-agent waits for its report. */
function deferredOutcome(isLead: boolean): ToolOutcome {
  const outcome = failedOutcome(
    'A PreToolUse hook deferred this call, so it did not run. Make the call again if it is still needed.',
  );
  return isLead ? { ...outcome, isDeferred: true } : outcome;
}

/** A call with what the session adds to its input, as the program sees it. */
export function completedUse<T extends ToolUse>(
  use: T,
  { builtIns, services }: Pick<SessionContext, 'builtIns' | 'services'>,
): T {
  const complete = builtIns.find(({ listed }) => listed.name === use.name)?.completed;
  return complete && isRecord(use.input) ? { ...use, input: complete(use.input, services) } : use;
}

/** Read-only tools of trusted servers and built-in tools that declare it run side by side. */
export function isConcurrent({ definition, isTrusted, builtIn }: PoolCall): boolean {
  return (
    builtIn?.concurrency === 'others' || (isTrusted && definition.listed.annotations?.readOnlyHint === true)
  );
}

function toPoolCall(
  { id, name, input: given }: ToolUse,
  definition: PooledTool,
  { session, agent }: CallContext,
): PoolCall {
  const { origin } = definition;
  const input = isRecord(given) ? given : {};
  if (origin.kind === 'builtin') {
    const builtIn = session.builtIns.find(({ listed }) => listed.name === origin.tool);
    const complete = { ...builtIn?.defaults, ...(builtIn?.converted?.(input) ?? input) };
    const inputs = builtIn ? absoluteInput(builtIn, complete, session.workspace()) : { input };
    return { id, name, definition, isTrusted: true, ...inputs, ...(builtIn && { builtIn }) };
  }
  const { server, tool } = origin;
  return {
    id,
    name,
    server,
    tool,
    definition,
    // Rules, hooks and permission prompts see the parameter names of the server's own schema.
    input: serverArguments(definition.listed.inputSchema, input),
    ...trustOf(definition, agent.servers().get(server), session),
  };
}

/** Hooks get absolute paths of files, so that a hook that guards a directory need not resolve them. */
function absoluteInput(
  { pathMember }: BuiltIn,
  input: PoolCall['input'],
  workspace: Workspace,
): Pick<PoolCall, 'input' | 'originalInput'> {
  const given = pathMember === undefined ? undefined : input[pathMember];
  if (pathMember === undefined || typeof given !== 'string' || given === '') return { input };
  const path = absolutePath(given, workspace);
  return path === given ? { input } : { input: { ...input, [pathMember]: path }, originalInput: input };
}

function decisionMessage(call: PoolCall, { kind, by }: Permit): Frame {
  return {
    type: 'system',
    subtype: 'permission_decided',
    tool_use_id: call.id,
    tool_name: call.name,
    behavior: kind === 'allowed' ? 'allow' : 'deny',
    decision_reason: by.answeredBy === undefined ? by.text : `${by.answeredBy} answered: ${by.text}`,
    ...(by.channel !== undefined && { channel: by.channel }),
  };
}

async function reportDenial(
  call: PoolCall,
  { text, by }: Extract<Permit, { kind: 'refused' }>,
  { session, agent }: CallContext,
  signal: AbortSignal,
): Promise<void> {
  // A request that an interrupt cancelled was not denied.
  if (signal.aborted) return;
  const { id, name } = call;
  // A person or program that denied the call knows it already; hook decisions and refused paths are in the result.
  if (by.answeredBy === undefined && (by.rule || by.mode || by.annotation)) {
    session.emit({
      type: 'system',
      subtype: 'permission_denied',
      tool_name: name,
      tool_use_id: id,
      message: text,
      decision_reason: by.text,
    });
  }
  const fields = {
    ...agentFields({ agent, session }),
    ...hookFields(call),
    tool_use_id: id,
    reason: by.text,
  };
  await session.hooks.run('PermissionDenied', fields, signal, id);
}

function unknownTool(name: string, pool: Pool): string {
  const similar = nearestToolName(name, [...pool.byName.keys()]);
  const hint = similar === undefined ? '' : `. Did you mean ${similar}?`;
  return `<tool_use_error>Error: No such tool available: ${name}${hint}</tool_use_error>`;
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}
