import { within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';
import { callServer } from '../../mcp/calls/call-tool.ts';
import { matchesCall, removingRule } from '../../permissions/match.ts';
import { policyRules } from '../../permissions/rule.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import type { ToolChange } from '../../pool/pinning/judge.ts';
import type { Pool, PooledTool } from '../../pool/pool.ts';
import { argumentsFor } from '../../pool/schema/arguments.ts';
import { nearestToolName, ofServers } from '../../pool/search/search-pool.ts';

import type { Frame } from '../../protocol/control-frame.ts';
import type { PermissionUpdate } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { BuiltIn, ResourceReader } from '../builtins/built-in.ts';
import { realInput, ruleLinks } from '../builtins/files/real-path.ts';
import type { Denial, SessionWorld, TurnEnd, Worker } from '../calls/call-context.ts';
import { decideCall, pinnedChange, workspaceOf } from '../calls/decide-call.ts';
import { type Permit, type PermitWorld, permit, type Resolved } from '../calls/permit-call.ts';
import { type PoolCall, toolFields } from '../calls/pool-call.ts';
import { goneServer, liveCall, resourceDoubt, saidBy, whyNotSend } from '../calls/resolve-call.ts';
import { resourceReader } from '../calls/resource-reader.ts';
import { type RunWorld, runCall } from '../calls/run-call.ts';
import { findTools } from '../calls/tool-disclosure.ts';
import {
  addUsage,
  type BatchEnd,
  type LoopConfig,
  type LoopEvent,
  loop,
  NO_USAGE,
  type Round,
} from '../loop/loop.ts';
import { failedOutcome, type PreparedCall, type ToolCall } from '../loop/run-calls.ts';
import type { ModelTool } from '../models/model.ts';
import { resultSource } from '../results/result-store.ts';

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
function roundOf(
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
  const meant = nearestToolName(name, [...pool.byName.keys()]);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return `No such tool available: ${name}${hint}`;
}

function answered(text: string): PreparedCall {
  return { kind: 'answered', outcome: failedOutcome(text) };
}

/** What hooks say beside their decisions. */
type Hear = Pick<PermitWorld, 'note' | 'stop'>;

/** A model's call, with what the session knows of its tool. */
function poolCall(made: ToolCall, tool: PooledTool, worker: Worker, world: SessionWorld): PoolCall {
  const { origin } = tool;
  const given = isRecord(made.input) ? made.input : {};
  if (origin.kind === 'builtin') {
    const builtIn = world.builtIns.find(({ listed }) => listed.name === origin.tool);
    return { id: made.id, tool, input: given, isTrusted: true, ...(builtIn && { builtIn }) };
  }
  // Rules, hooks and people see the names the server gave its parameters.
  const input = argumentsFor(tool.listed.inputSchema, given);
  return { id: made.id, tool, input, ...saidBy(tool, worker.servers().get(origin.server), world) };
}

/** Reading tools of trusted servers, and those built-ins that say so. */
export function isBesideOthers({ tool, isTrusted, builtIn }: PoolCall): boolean {
  return builtIn?.beside === 'others' || (isTrusted && tool.listed.annotations?.readOnlyHint === true);
}

function permitWorld(worker: Worker, world: SessionWorld, hear: Hear): PermitWorld {
  /** What was shown, or would be, by the call: accepted is that, and nothing that came later. */
  const changes = new Map<string, ToolChange>();
  const changeOf = (call: PoolCall): ToolChange | undefined => {
    const change = pinnedChange(call, worker, world);
    if (change) changes.set(call.id, change);
    return change;
  };
  const decideNow = (call: PoolCall) => decideCall(call, changeOf(call), worker, world);
  /** What a mode denies, it may allow once the server says more of its tool. */
  const isDeniedByRule = (call: PoolCall) => {
    const { kind, reason } = decideNow(call);
    return kind === 'deny' && reason.rule !== undefined;
  };
  return {
    ...hear,
    hooks: world.hooks,
    who: worker.who,
    mode: () => modeOf(world.rules.current()),
    workspace: () => world.workspace(),
    askers: world.askers,
    waiting: (work) => world.waiting(work),
    resolve: (call, signal) =>
      call.builtIn
        ? resolveBuiltIn(call, call.builtIn, worker, world, signal)
        : liveCall(call, worker, world, isDeniedByRule, signal),
    decide: decideNow,
    accept: ({ id }) => {
      const change = changes.get(id);
      if (change) world.pins.accept(change);
    },
    keepsRules: () => world.rules.keeps?.('localSettings') === true,
    applyUpdates: async (updates) => {
      const isOpen = ({ type, ...update }: PermissionUpdate) =>
        type !== 'setMode' || !('mode' in update) || update.mode !== 'bypassPermissions' || world.mayBypass;
      const refused = await world.rules.apply(updates.filter(isOpen));
      for (const { message } of refused) world.note(message);
    },
  };
}

function runWorld(worker: Worker, world: SessionWorld, hear: Hear): RunWorld {
  return {
    ...hear,
    hooks: world.hooks,
    who: worker.who,
    callServer: async (call, { server, tool }, options) => {
      const target = worker.target(server);
      if (!target) throw goneServer(server);
      const whyNot = () => whyNotSend(call, target, worker);
      const made = { server, tool, args: { ...call.input }, whyNot, ...options };
      return callServer(target, made, world.journal, world.callLimits);
    },
    results: { ...world.results, canUse: (tool) => worker.pool().byName.has(tool) },
    onProgress: (call, progress, elapsedMs) =>
      world.say({
        type: 'tool_progress',
        tool_use_id: call.id,
        tool_name: call.tool.name,
        parent_tool_use_id: worker.parentToolUseId,
        elapsed_time_seconds: Math.round(elapsedMs / 1000),
        progress,
      }),
    builtInWorld: (call) => ({
      workspace: world.workspace(),
      env: world.env,
      files: world.files,
      wake: world.wake,
      leftOvers: world.leftOvers,
      agents: world.agents,
      isReadable: readableFor(call, world),
      connect: worker.connectServer,
      findTools: (query, limit) =>
        findTools(query, limit, { ...worker, pool: worker.pool(), waiting: waitingServers(worker) }),
      resources: readerFor(call, worker, world),
      delegate: (request, signal) => worker.delegate(call, request, signal),
    }),
  };
}

/** Those that `connect_mcp` can connect, if there is one to call. */
function waitingServers(worker: Worker): string[] {
  if (!worker.pool().byName.has('connect_mcp')) return [];
  return [...worker.servers()].flatMap(([key, { state }]) => (state.kind === 'waiting' ? [key] : []));
}

/** Resources have no path, files no URI: each built-in has at most one of the two. */
async function resolveBuiltIn(
  call: PoolCall,
  builtIn: BuiltIn,
  worker: Worker,
  world: SessionWorld,
  signal: AbortSignal,
): Promise<Resolved> {
  if (builtIn.uriMember !== undefined) return resolveReading(call, builtIn.uriMember, worker, world, signal);
  if (builtIn.pathMember === undefined) return call;
  const [real, links] = await Promise.all([
    realInput(builtIn, call.input, world.workspace()),
    ruleLinks(world.rules.current().rules, world.workspace()),
  ]);
  if (real.kind === 'unresolved') return { fault: real.fault };
  const resolved = { ...call, links };
  return real.input === call.input ? resolved : { ...resolved, input: real.input, written: call.input };
}

async function resolveReading(
  call: PoolCall,
  uriMember: string,
  worker: Worker,
  world: SessionWorld,
  signal: AbortSignal,
): Promise<PoolCall> {
  const { server: key, [uriMember]: uri } = call.input;
  if (typeof key !== 'string' || typeof uri !== 'string') return call;
  const server = call.at ?? worker.servers().get(key);
  // The reader refuses by name what is not there.
  if (!server || !readableServers(worker, world).includes(key)) return call;
  const { doubt: _, ...asked } = call;
  const doubt = await resourceDoubt(key, uri, server, worker, signal);
  return { ...asked, at: server, ...(doubt !== undefined && { doubt }) };
}

/** Whoever must not call any tool of a server does not read from it either. */
function readableServers(worker: Worker, world: SessionWorld): string[] {
  const rules = [...world.rules.current().rules, ...policyRules(worker.servers())];
  const isAllowed = (server: string) =>
    removingRule(rules, { name: mcpToolName(server, ''), server, tool: '' }) === undefined;
  return worker.readable().filter(isAllowed);
}

function readerFor({ tool, at }: PoolCall, worker: Worker, world: SessionWorld): ResourceReader {
  const results = { ...world.results, canUse: (name: string) => worker.pool().byName.has(name) };
  return resourceReader({
    servers: () => readableServers(worker, world),
    isMeant: (server) => worker.servers().get(server) === at,
    featuresOf: worker.featuresOf,
    sourceOf: (server) => resultSource(results, { name: tool.name, server }),
  });
}

/** Searches do not show what a deny rule for `Read` or for the tool itself is about. */
function readableFor(call: PoolCall, world: SessionWorld): (path: string) => boolean {
  const { name } = call.tool;
  const member = call.builtIn?.pathMember;
  const denied = world.rules.current().rules.filter(({ effect }) => effect === 'deny');
  const workspace = workspaceOf(call, world);
  return (path) => {
    const calls = [
      { name: 'Read', input: { file_path: path } },
      ...(member === undefined ? [] : [{ name, input: { [member]: path } }]),
    ];
    return !denied.some((rule) => calls.some((it) => matchesCall(rule, it, workspace)));
  };
}
