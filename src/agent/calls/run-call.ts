import { isRecord } from '../../base/json-value.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { CallOptions } from '../../mcp/connection/connection.ts';
import type { Origin } from '../../pool/pool.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import type { BuiltInWorld } from '../builtins/built-in.ts';
import { failedOutcome, INTERRUPTED, type ToolOutcome } from '../loop/run-calls.ts';
import { type ResultPolicy, type ResultSource, resultSource } from '../results/result-store.ts';
import { blockPieces, contentOf, failureToModel, toModel } from '../results/to-model.ts';
import { jsonText, toProgram } from '../results/tool-result.ts';

import { type PoolCall, toolFields, type Who } from './pool-call.ts';

export type RunWorld = {
  readonly hooks: SessionHooks;
  /** Who calls, as hooks are told; nobody is the lead. */
  readonly who: Who;
  /** What a built-in tool works with, for this call. */
  builtInWorld(call: PoolCall): BuiltInWorld;
  /** Calls the tool of a server, however its connection stands; rejects with what is to be told. */
  callServer(
    call: PoolCall,
    origin: Extract<Origin, { kind: 'mcp' }>,
    options: Pick<CallOptions, 'signal' | 'meta' | 'onProgress'>,
  ): Promise<Partial<CallToolResult>>;
  onProgress(call: PoolCall, progress: object, elapsedMs: number): void;
  /** What becomes of what a model cannot take. */
  readonly results: ResultPolicy;
  note(text: string): void;
  stop(why: string): void;
};

/** Runs a call that is allowed, and lets hooks look at what came of it. Never rejects. */
export async function runCall(call: PoolCall, world: RunWorld, signal: AbortSignal): Promise<ToolOutcome> {
  const since = performance.now();
  const elapsed = () => Math.round(performance.now() - since);
  const outcome = await run(call, world, elapsed, signal);
  const about = { ...world.who, ...toolFields(call), tool_use_id: call.id };
  const duration_ms = elapsed();
  const effect = outcome.isError
    ? await world.hooks.run(
        'PostToolUseFailure',
        { ...about, error: textOf(outcome), is_interrupt: signal.aborted },
        signal,
        call.id,
      )
    : await world.hooks.run(
        'PostToolUse',
        { ...about, tool_response: outcome.content, duration_ms },
        signal,
        call.id,
      );
  return afterHooks(call, outcome, effect, world);
}

async function afterHooks(
  call: PoolCall,
  outcome: ToolOutcome,
  effect: HookEffect,
  world: RunWorld,
): Promise<ToolOutcome> {
  const { additionalContext, stop, decision, reason, updatedOutput } = effect;
  if (additionalContext !== undefined) world.note(additionalContext);
  // The call has run; what a hook objects to is told to the model.
  if (decision === 'deny' && reason !== undefined) world.note(reason);
  if (stop !== undefined) world.stop(stop);
  if (!updatedOutput) return outcome;
  const content = await hookedContent(updatedOutput.value, outcome, sourceOf(call, world));
  return { content, isError: outcome.isError };
}

async function run(
  call: PoolCall,
  world: RunWorld,
  elapsed: () => number,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { origin, name } = call.tool;
  if (origin.kind === 'builtin') {
    const { builtIn } = call;
    if (!builtIn) return failedOutcome(`${name} is not available in this session`);
    try {
      return await builtIn.run(call.input, world.builtInWorld(call), signal);
    } catch (thrown) {
      return failureOf(thrown, sourceOf(call, world), signal);
    }
  }
  try {
    const result = await world.callServer(call, origin, {
      signal,
      meta: { 'claudecode/toolUseId': call.id },
      onProgress: (progress) => world.onProgress(call, progress, elapsed()),
    });
    const outcome = toOutcome(await toModel(result, sourceOf(call, world), signal));
    return { ...outcome, told: toProgram(result, outcome) };
  } catch (failure) {
    return failureOf(failure, sourceOf(call, world), signal);
  }
}

async function failureOf(thrown: unknown, source: ResultSource, signal: AbortSignal): Promise<ToolOutcome> {
  return signal.aborted ? failedOutcome(INTERRUPTED) : toOutcome(await failureToModel(thrown, source));
}

function toOutcome({ content, isError }: { content: unknown; isError: boolean }): ToolOutcome {
  return { content: content as string | UserBlock[], isError };
}

function textOf({ content }: ToolOutcome): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}

function sourceOf({ tool: { name, origin, listed } }: PoolCall, { results }: RunWorld): ResultSource {
  const server = origin.kind === 'mcp' ? origin.server : name;
  return resultSource(results, { name, server }, listed._meta);
}

/**
 * What a hook put in the place of a result: a text, blocks in MCP's or the model's form, a whole MCP result, or any
 * data. How long it is, is the hook's affair; that a failed result holds text only is not.
 */
export async function hookedContent(
  value: unknown,
  { isError }: { readonly isError: boolean },
  source: ResultSource,
): Promise<string | UserBlock[]> {
  if (typeof value === 'string') return value;
  const given: unknown = isRecord(value) && 'content' in value ? value.content : value;
  if (typeof given === 'string') return given;
  if (!Array.isArray(given) || given.length === 0 || !given.every(isBlock)) return jsonText(value);
  const boundless: ResultSource = {
    ...source,
    limit: { most: Number.POSITIVE_INFINITY, unit: 'characters' },
  };
  const blocks: UserBlock[] = [];
  for (const block of given) {
    if (block.type === 'image' && isRecord(block.source)) {
      blocks.push(isError ? { type: 'text', text: '[Image]' } : { type: 'image', source: block.source });
    } else {
      const pieces = await blockPieces(block, boundless);
      const { content } = await contentOf(pieces, boundless, { isError });
      blocks.push(...(typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content));
    }
  }
  return blocks;
}

function isBlock(it: unknown): it is Record<string, unknown> & { type: string } {
  return isRecord(it) && typeof it.type === 'string';
}
