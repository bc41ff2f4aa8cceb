import { within } from '../../base/async/timers.ts';
import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { Pool, PooledTool } from '../../pool/pool.ts';
import { ofServers } from '../../pool/search/search-pool.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Agent, CallContext, Denial, SessionContext } from '../calls/call-context.ts';
import { agentFields } from '../calls/pool-call.ts';
import { prepareCall } from '../calls/prepare-call.ts';
import {
  addUsage,
  type BatchEnd,
  type LoopConfig,
  type LoopEnd,
  type LoopEvent,
  loop,
  NO_USAGE,
  type Round,
} from '../loop/loop.ts';
import type { ToolOutcome, ToolUse } from '../loop/run-calls.ts';
import { type Model, ModelError, type ModelTool } from '../models/model.ts';

/** How an agent's turn ended. */
export type TurnEnd = {
  readonly end:
    | LoopEnd
    | {
        readonly reason: 'failed';
        readonly fault: string;
        /** The error of the model request that failed, if that is the cause. */
        readonly modelError?: ModelError;
        readonly turns: number;
        readonly usage: Usage;
      };
  readonly denials: readonly Denial[];
  /** A Stop hook ended the turn with `"continue": false`. */
  readonly isStopPrevented?: boolean;
};

/** How long a request to the model waits for servers that announced a change to list their tools again. */
const LIST_WAIT_MS = 2_000;

/** Runs the loop of one agent for one user message. Never rejects. */
export async function runAgent(
  agent: Agent,
  session: SessionContext,
  emit: (event: LoopEvent) => void,
  turn: { readonly signal: AbortSignal; interrupt(): void },
): Promise<TurnEnd> {
  let turns = 0;
  let usage = NO_USAGE;
  let notes: string[] = [];
  let pool = agent.pool();
  let stopReason: string | undefined;
  const denials: Denial[] = [];
  const context: CallContext = {
    session,
    agent,
    get pool() {
      return pool;
    },
    get stopReason() {
      return stopReason;
    },
    stop: (reason) => {
      stopReason ??= reason;
    },
    addNote: (text) => void notes.push(text),
    denials,
    interrupt: () => turn.interrupt(),
  };
  const config: LoopConfig = {
    model: followingModel(session.model, agent),
    modelName: agent.modelName(),
    ...(agent.effort && { effort: agent.effort }),
    maxTokens: session.model.limits.outputTokens,
    readerReady: () => session.readerReady(),
    round: async () => {
      await within(LIST_WAIT_MS, agent.listed(), turn.signal);
      pool = agent.pool();
      const { disclosed, searchable } = agent.disclosure.disclose(pool);
      // The lead's index is built in the background, so that the first search finds it ready.
      if (searchable.length > 0 && agent.parentToolUseId === null) agent.index.sync(ofServers(pool));
      return roundOf(disclosed, pool, agent.system());
    },
    prepare: (use, signal) => prepareCall(use, context, signal),
    batchDone: async (calls, outcomes, signal) => {
      const tool_calls = calls.map(({ id, name, input }, at) => ({
        tool_name: name,
        tool_input: input,
        tool_use_id: id,
        tool_response: outcomes[at]?.content,
      }));
      const fields = { ...agentFields(context), tool_calls };
      const { additionalContext, stop } = await session.hooks.run('PostToolBatch', fields as never, signal);
      const all = additionalContext === undefined ? notes : [...notes, additionalContext];
      notes = [];
      const reason = stopReason ?? stop;
      // The tag tells the model that the text is not the user's.
      const hookTexts = all.map((text) => `<hook>\n${text}\n</hook>`);
      const texts = [...outcomes.flatMap(({ followUp = [] }) => followUp), ...hookTexts];
      const output = await endByOutput(agent, calls, outcomes, signal);
      const isLast = turns === agent.maxTurns;
      if (reason === undefined && !output && !isLast) {
        texts.push(...((await agent.afterRound?.({ calls, outcomes }, signal)) ?? []));
        texts.push(...(agent.takeNotices?.() ?? []));
      }
      return { texts, ...(reason !== undefined && { stop: reason }), ...(output && { output }) };
    },
    ...(agent.beforeEnd && { beforeEnd: agent.beforeEnd }),
    ...(agent.compactIfNeeded && { compactIfNeeded: agent.compactIfNeeded }),
    ...(agent.maxTurns !== undefined && { maxTurns: agent.maxTurns }),
    ...(session.budgetError && { budgetError: session.budgetError }),
  };
  const count = (event: LoopEvent) => {
    if (event.kind === 'discarded') usage = addUsage(usage, event.usage);
    if (event.kind === 'replied') {
      turns++;
      usage = addUsage(usage, event.message.usage);
    }
    emit(event);
  };
  try {
    return { end: await loop({ messages: agent.messages }, config, count, turn.signal), denials };
  } catch (cause) {
    const modelError = cause instanceof ModelError ? { modelError: cause } : {};
    return { end: { reason: 'failed', fault: messageOf(cause), ...modelError, turns, usage }, denials };
  }
}

/**
 * Wraps a model: once a skill chooses a model name during the turn, the requests of the rest of the turn use that name.
 */
function followingModel(model: Model, { chosenModel }: Agent): Model {
  if (!chosenModel) return model;
  let last = chosenModel();
  return {
    name: model.name,
    limits: model.limits,
    stream(request) {
      const chosen = chosenModel();
      if (chosen === undefined || chosen === last) return model.stream(request);
      last = chosen;
      request.onAttempt?.({ given: chosen, name: chosen });
      return model.stream({ ...request, model: chosen });
    },
  };
}

/** Whether the structured output ends the turn; stop hooks run, but cannot make the agent continue then. */
async function endByOutput(
  { output, beforeEnd }: Agent,
  calls: readonly ToolUse[],
  outcomes: readonly ToolOutcome[],
  signal: AbortSignal,
): Promise<BatchEnd['output']> {
  if (!output) return undefined;
  const fault = output.attemptsError(calls, outcomes);
  if (!output.given) return fault === undefined ? undefined : { fault };
  await beforeEnd?.(signal);
  return 'given';
}

/** The background work and the schedule, in the input of stop hooks. */
export function backgroundFields({ tasks, services }: Pick<SessionContext, 'tasks' | 'services'>) {
  const session_crons = services.schedule?.summaries.slice() ?? [];
  return { background_tasks: tasks.summaries as never[], session_crons };
}

/** Lets stop hooks make an agent continue with their reason, at most `max` times. */
export function stopHook(
  max: number,
  run: (isActive: boolean, signal: AbortSignal) => Promise<HookEffect>,
): NonNullable<Agent['beforeEnd']> {
  let continuations = 0;
  return async (signal) => {
    const { decision, reason, stop } = await run(continuations > 0, signal);
    const isContinued = decision === 'deny' && stop === undefined && continuations++ < max;
    return isContinued ? `Stop hook feedback:\n${reason || 'Go on.'}` : undefined;
  };
}

/** The system prompt and tools of one request. For the same list of tools it is the same array. */
export function roundOf(
  disclosed: readonly PooledTool[],
  { cacheAfter }: Pick<Pool, 'cacheAfter'>,
  system: string,
): Round {
  const tools = modelTools.get(disclosed) ?? disclosed.map(toModelTool);
  modelTools.set(disclosed, tools);
  return { system, tools, ...(cacheAfter >= 0 && { cacheAfterTool: cacheAfter }) };
}

const modelTools = new WeakMap<readonly PooledTool[], readonly ModelTool[]>();

function toModelTool({ name, description, inputSchema }: PooledTool): ModelTool {
  return { name, description, input_schema: inputSchema };
}
