import { within } from '../../base/within.ts';
import type { Pool, PooledTool } from '../../pool/assemble.ts';
import { nearName } from '../../pool/near-name.ts';
import { ofServers } from '../../pool/search-pool.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Permit, permit } from '../calls/permit.ts';
import { type PoolCall, toolFields } from '../calls/pool-call.ts';
import { runCall } from '../calls/run-call.ts';
import { addUsage, NO_USAGE } from '../loop/add-usage.ts';
import { type BatchEnd, type LoopConfig, type LoopEvent, loop, type Round } from '../loop/loop.ts';
import { failedOutcome, type PreparedCall, type ToolCall } from '../loop/tool-call.ts';
import type { ModelTool } from '../models/model.ts';
import type { SessionWorld } from '../session/session-world.ts';
import { isBesideOthers, permitWorld, poolCall, runWorld } from './turn-worlds.ts';
import type { Denial, TurnEnd, Worker } from './worker.ts';

/** How long a round waits for a server that said its tools have changed; then it goes on with those it knew. */
const LIST_PATIENCE_MS = 2_000;

/** Runs the loop for one user message; never rejects. `interrupt` ends the turn when somebody's answer demands it. */
export async function runTurn(
  worker: Worker,
  world: SessionWorld,
  emit: (event: LoopEvent) => void,
  turn: { readonly signal: AbortSignal; interrupt(): void },
): Promise<TurnEnd> {
  const denials: Denial[] = [];
  let notes: string[] = [];
  let stop: string | undefined;
  const hear = {
    note: (text: string) => void notes.push(text),
    stop: (why: string) => {
      stop ??= why;
    },
  };
  const permitting = permitWorld(worker, world, hear);
  const running = runWorld(worker, world, hear);
  let pool = worker.pool();

  const prepare = async (made: ToolCall, signal: AbortSignal): Promise<PreparedCall> => {
    const tool = pool.byName.get(made.name);
    if (!tool) return answered(noSuchTool(made.name, pool));
    // Whoever calls a tool by its name alone is told of it from then on.
    worker.shelf.load([made.name]);
    if (stop !== undefined) return answered(`The agent was stopped before this call: ${stop}`);
    const call = poolCall(made, tool, worker, world);
    const permitted = await permit(call, permitting, signal);
    if (world.tellsDecisions) world.say(decidedMessage(call, permitted));
    if (permitted.kind === 'allowed') {
      return {
        kind: 'run',
        beside: isBesideOthers(permitted.call) ? 'others' : 'none',
        run: (within) => runCall(permitted.call, running, within),
      };
    }
    if (permitted.kind === 'failed') {
      const failing = { ...running, callServer: () => Promise.reject(permitted.failure) };
      return { kind: 'run', beside: 'none', run: (within) => runCall(call, failing, within) };
    }
    denials.push({ tool_name: made.name, tool_use_id: made.id, tool_input: made.input });
    await tellDenied(call, permitted, worker, world, signal);
    if (permitted.interrupt) turn.interrupt();
    return answered(permitted.text);
  };

  const batchDone = async (calls: readonly ToolCall[], outcomes: readonly unknown[], signal: AbortSignal) => {
    const tool_calls = calls.map(({ id, name, input }, at) => ({
      tool_name: name,
      tool_input: input,
      tool_use_id: id,
      tool_response: outcomes[at],
    }));
    const effect = await world.hooks.run('PostToolBatch', { ...worker.who, tool_calls } as never, signal);
    const said = effect.additionalContext === undefined ? notes : [...notes, effect.additionalContext];
    // Tagged, so that nobody takes it for words of the user.
    const texts = said.map((text) => `<hook>\n${text}\n</hook>`);
    notes = [];
    const why = stop ?? effect.stop;
    return { texts, ...(why !== undefined && { stop: why }) } satisfies BatchEnd;
  };

  const config: LoopConfig = {
    model: world.model,
    modelName: worker.modelName(),
    maxTokens: world.model.limits.outputTokens,
    readerReady: () => world.readerReady(),
    round: async () => {
      await within(LIST_PATIENCE_MS, worker.listed(), turn.signal);
      pool = worker.pool();
      const { told, searchable } = worker.shelf.tell(pool);
      // Off the turn's path: whoever searches waits for what is left to do.
      if (searchable.length > 0 && worker.parentToolUseId === null) worker.index.sync(ofServers(pool));
      return roundOf(told, pool, worker.system());
    },
    prepare,
    batchDone,
    ...(worker.beforeEnd && {
      beforeEnd: (signal) => worker.beforeEnd?.(signal) ?? Promise.resolve(undefined),
    }),
    ...(worker.makeRoom && { makeRoom: worker.makeRoom }),
    ...(worker.maxTurns !== undefined && { maxTurns: worker.maxTurns }),
  };
  let turns = 0;
  let usage = NO_USAGE;
  const count = (event: LoopEvent) => {
    if (event.kind === 'replied') {
      turns++;
      usage = addUsage(usage, event.message.usage);
    }
    emit(event);
  };
  try {
    return { end: await loop({ messages: worker.messages }, config, count, turn.signal), denials };
  } catch (cause) {
    return { end: { reason: 'failed', fault: messageOf(cause), turns, usage }, denials };
  }
}

/** What a round tells the model beside the conversation; of the same tools always the same. */
export function roundOf(
  told: readonly PooledTool[],
  { cacheAfter }: Pick<Pool, 'cacheAfter'>,
  system: string,
): Round {
  const tools = modelTools.get(told) ?? told.map(toModelTool);
  modelTools.set(told, tools);
  return { system, tools, ...(cacheAfter >= 0 && { cacheAfterTool: cacheAfter }) };
}

const modelTools = new WeakMap<readonly PooledTool[], readonly ModelTool[]>();

function toModelTool({ name, description, inputSchema }: PooledTool): ModelTool {
  return { name, description, input_schema: inputSchema };
}

/** For whoever explains afterwards why a call ran or did not. */
function decidedMessage(call: PoolCall, { kind, by }: Permit): Frame {
  return {
    type: 'system',
    subtype: 'permission_decided',
    tool_use_id: call.id,
    tool_name: call.tool.name,
    behavior: kind === 'allowed' ? 'allow' : 'deny',
    decision_reason: by.answeredBy === undefined ? by.text : `${by.answeredBy} answered: ${by.text}`,
  };
}

async function tellDenied(
  call: PoolCall,
  { text, by }: Extract<Permit, { kind: 'refused' }>,
  { who }: Worker,
  world: SessionWorld,
  signal: AbortSignal,
): Promise<void> {
  const tool = { tool_name: call.tool.name, tool_use_id: call.id };
  // Whoever said no knows it already; hooks and refused paths are told by the result.
  if (by.answeredBy === undefined && (by.rule || by.mode || by.annotation)) {
    world.say({
      type: 'system',
      subtype: 'permission_denied',
      ...tool,
      message: text,
      decision_reason: by.text,
    });
  }
  await world.hooks.run(
    'PermissionDenied',
    { ...who, ...toolFields(call), tool_use_id: call.id, reason: by.text },
    signal,
    call.id,
  );
}

/** A model that errs by a letter is told so; one that guesses can search. */
function noSuchTool(name: string, pool: Pool): string {
  const meant = nearName(name, [...pool.byName.keys()]);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `No such tool available: ${name}${hint}`;
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}
