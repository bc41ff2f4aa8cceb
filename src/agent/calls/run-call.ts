import { isRecord } from '../../base/json-value.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import { callTool, type ServerCall } from '../../mcp/calls/call-tool.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { failedOutcome, INTERRUPTED, type ToolOutcome } from '../loop/run-calls.ts';
import { type ResultSource, resultSource } from '../results/result-files.ts';
import { blockPieces, contentOf, failureToModel, toModel } from '../results/to-model.ts';
import { jsonText, toProgram } from '../results/tool-result.ts';
import { builtInContext } from './built-in-context.ts';
import type { Agent, CallContext } from './call-context.ts';
import { agentFields, hookFields, type PoolCall } from './pool-call.ts';
import { removedServer, sendObstacle } from './resolve-call.ts';

/** What a call runs with. */
export type CallRun = {
  readonly context: CallContext;
  readonly signal: AbortSignal;
  /** Receives progress instead of the program. */
  readonly onProgress?: ((progress: object) => void) | undefined;
};

/** Runs a call that is allowed, then its PostToolUse hooks. Never rejects. */
export async function runCall(call: PoolCall, run: CallRun): Promise<ToolOutcome> {
  const { context, signal } = run;
  const { server, tool = '', builtIn, name } = call;
  const { session, agent } = context;
  const startedAt = performance.now();
  let outcome: ToolOutcome;
  try {
    if (server === undefined) {
      outcome = builtIn
        ? await builtIn.run(call.input, builtInContext(call, context), signal)
        : failedOutcome(`${name} is not available in this session`);
    } else {
      const target = agent.target(server);
      if (!target) throw removedServer(server);
      const request: ServerCall = {
        server,
        tool,
        args: { ...call.input },
        signal,
        meta: { 'claudecode/toolUseId': call.id },
        refusal: () => sendObstacle(call, target, context),
        onProgress(progress) {
          if (run.onProgress) run.onProgress(progress);
          else session.emit(progressMessage(call, agent, progress, performance.now() - startedAt));
        },
      };
      const result = await callTool(target, request, session.journal, session.callLimits);
      outcome = toOutcome(await toModel(result, sourceOf(call, context), signal));
      outcome = { ...outcome, programResult: toProgram(result, outcome) };
    }
  } catch (failure) {
    return failCall(call, failure, context, signal);
  }
  return runPostHooks(call, outcome, startedAt, context, signal);
}

/** The outcome of a call that failed, after its PostToolUseFailure hooks. */
export async function failCall(
  call: PoolCall,
  failure: unknown,
  context: CallContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const outcome = signal.aborted
    ? failedOutcome(INTERRUPTED)
    : toOutcome(await failureToModel(failure, sourceOf(call, context)));
  return runPostHooks(call, outcome, performance.now(), context, signal);
}

function progressMessage({ id, name }: PoolCall, agent: Agent, progress: object, elapsedMs: number): Frame {
  return {
    type: 'tool_progress',
    tool_use_id: id,
    tool_name: name,
    parent_tool_use_id: agent.parentToolUseId,
    elapsed_time_seconds: Math.round(elapsedMs / 1000),
    progress,
  };
}

async function runPostHooks(
  call: PoolCall,
  outcome: ToolOutcome,
  startedAt: number,
  context: CallContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { hooks } = context.session;
  const fields = { ...agentFields(context), ...hookFields(call), tool_use_id: call.id };
  const duration_ms = Math.round(performance.now() - startedAt);
  const effect = outcome.isError
    ? await hooks.run(
        'PostToolUseFailure',
        { ...fields, error: textOf(outcome), is_interrupt: signal.aborted, duration_ms },
        signal,
        call.id,
      )
    : await hooks.run(
        'PostToolUse',
        {
          ...fields,
          tool_response: responseOf(call, outcome),
          duration_ms,
        },
        signal,
        call.id,
      );
  return applyHookEffect(call, outcome, effect, context);
}

/** Built-in tools give hooks their data, servers the content without the members that only programs use. */
function responseOf({ server }: PoolCall, { programResult, content }: ToolOutcome): unknown {
  if (server !== undefined && isRecord(programResult)) return programResult.content;
  return programResult ?? content;
}

/** The call has run, so a hook that denies it only adds its reason for the model. */
async function applyHookEffect(
  call: PoolCall,
  outcome: ToolOutcome,
  { additionalContext, stop, decision, reason, updatedOutput }: HookEffect,
  context: CallContext,
): Promise<ToolOutcome> {
  if (additionalContext !== undefined) context.addNote(additionalContext);
  if (decision === 'deny' && reason !== undefined) context.addNote(reason);
  if (stop !== undefined) context.stop(stop);
  if (!updatedOutput) return outcome;
  const content = await hookOutputContent(updatedOutput.value, outcome, sourceOf(call, context));
  return { content, isError: outcome.isError };
}

/**
 * Converts the output that a hook put in the place of a result: a string, blocks in MCP's or the model's form, a whole MCP
 * result, or any data. The length is not limited; a failed result is still reduced to text, as model APIs require.
 */
export async function hookOutputContent(
  value: unknown,
  { isError }: { readonly isError: boolean },
  source: ResultSource,
): Promise<string | UserBlock[]> {
  if (typeof value === 'string') return value;
  const given: unknown = isRecord(value) && 'content' in value ? value.content : value;
  if (typeof given === 'string') return given;
  if (!Array.isArray(given) || given.length === 0 || !given.every(isBlock)) return jsonText(value);
  const unlimited: ResultSource = {
    ...source,
    limit: { max: Number.POSITIVE_INFINITY, unit: 'characters' },
  };
  const blocks: UserBlock[] = [];
  for (const block of given) {
    if (block.type === 'image' && isRecord(block.source)) {
      blocks.push(isError ? { type: 'text', text: '[Image]' } : { type: 'image', source: block.source });
    } else {
      const pieces = await blockPieces(block, unlimited);
      const { content } = await contentOf(pieces, unlimited, { isError });
      blocks.push(...(typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content));
    }
  }
  return blocks;
}

function isBlock(value: unknown): value is Record<string, unknown> & { type: string } {
  return isRecord(value) && typeof value.type === 'string';
}

function toOutcome({ content, isError }: { content: unknown; isError: boolean }): ToolOutcome {
  return { content: content as string | UserBlock[], isError };
}

function textOf({ content }: ToolOutcome): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

function sourceOf(
  { name, server = name, definition }: PoolCall,
  { session, agent }: CallContext,
): ResultSource {
  const policy = { ...session.results, canUse: (tool: string) => agent.pool().byName.has(tool) };
  return resultSource(policy, { name, server }, definition.listed._meta);
}
