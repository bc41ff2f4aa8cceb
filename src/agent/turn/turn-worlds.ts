import { isRecord } from '../../base/is-record.ts';
import { callServer } from '../../mcp/calls/call-server.ts';
import { matchesCall } from '../../permissions/match.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import { policyRules } from '../../permissions/server-policy.ts';
import { removingRule } from '../../permissions/unmatched.ts';
import type { PooledTool } from '../../pool/assemble.ts';
import type { ToolChange } from '../../pool/pinning/judge.ts';
import { argumentsFor } from '../../pool/schema/arguments.ts';
import type { PermissionUpdate } from '../../protocol/permission.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { BuiltIn, ResourceReader } from '../builtins/built-in.ts';
import { realInput, ruleLinks } from '../builtins/files/real-path.ts';

import type { PermitWorld, Resolved } from '../calls/permit.ts';
import type { PoolCall } from '../calls/pool-call.ts';
import type { RunWorld } from '../calls/run-call.ts';
import type { ToolCall } from '../loop/tool-call.ts';
import { resultSource } from '../results/result-source.ts';
import type { SessionWorld } from '../session/session-world.ts';
import { decideCall, pinnedChange, workspaceOf } from './decide-call.ts';
import { findTools } from './find-tools.ts';
import { goneServer, liveCall, saidBy, whyNotSend } from './live-call.ts';
import { resourceDoubt } from './resource-doubt.ts';
import { resourceReader } from './resource-reader.ts';
import type { Worker } from './worker.ts';

/** What hooks say beside their decisions. */
type Hear = Pick<PermitWorld, 'note' | 'stop'>;

/** A model's call, with what the session knows of its tool. */
export function poolCall(made: ToolCall, tool: PooledTool, worker: Worker, world: SessionWorld): PoolCall {
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

export function permitWorld(worker: Worker, world: SessionWorld, hear: Hear): PermitWorld {
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

export function runWorld(worker: Worker, world: SessionWorld, hear: Hear): RunWorld {
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
