import { isRecord } from '../base/is-record.ts';
import type { PermissionUpdate } from '../protocol/permission.ts';
import { mcpToolName } from '../protocol/tool-name.ts';
import type { ToolCall } from './agent/tool-call.ts';
import type { ResourceReader } from './builtin/built-in.ts';
import { realInput } from './builtin/real-path.ts';
import type { PermitWorld } from './call/permit.ts';
import { type PoolCall, ruleCall } from './call/pool-call.ts';
import type { RunWorld } from './call/run-call.ts';
import { HostError } from './connect/host-error.ts';
import { isTrustedEntry } from './connect/world.ts';
import { findTools } from './find-tools.ts';
import { type Decision, decide } from './permission/decide.ts';
import { matchesCall } from './permission/match.ts';
import type { Rule } from './permission/rule.ts';
import { modeOf } from './permission/rule-store.ts';
import { removingRule } from './permission/unmatched.ts';
import type { ToolChange } from './pin/judge.ts';
import type { PooledTool } from './pool/assemble.ts';
import { argumentsFor } from './pool/schema/arguments.ts';
import { resourceReader } from './resource-reader.ts';
import { resultSource } from './result/result-source.ts';
import { policyRules } from './server-policy.ts';
import { callServer } from './servers/call/call-server.ts';
import type { SessionWorld } from './session-world.ts';
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
  const server = worker.servers().get(origin.server);
  const source = server?.origin === 'sdk' ? 'sdk' : 'dynamic';
  const isTrusted = server !== undefined && isTrustedEntry(server.entry);
  return { id: made.id, tool, input, isTrusted, provenance: { name: origin.server, source } };
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
  return {
    ...hear,
    hooks: world.hooks,
    who: worker.who,
    mode: () => modeOf(world.rules.current()),
    workspace: () => world.workspace(),
    askers: world.askers,
    waiting: (work) => world.waiting(work),
    resolve: async (call, signal) => {
      const { origin } = call.tool;
      // What will be called is compared, and that is known once the server is there.
      const target = origin.kind === 'mcp' ? worker.target(origin.server) : undefined;
      if (target && !target.live() && decideNow(call).kind !== 'deny') {
        await target.connected(signal).catch(() => {});
      }
      if (!call.builtIn) return call;
      const real = await realInput(call.builtIn, call.input, world.workspace());
      if (real.kind === 'unresolved') return { fault: real.fault };
      return real.input === call.input ? call : { ...call, input: real.input, written: call.input };
    },
    decide: decideNow,
    accept: ({ id }) => {
      const change = changes.get(id);
      if (change) world.pins.accept(change);
    },
    applyUpdates: async (updates) => {
      const isOpen = ({ type, ...update }: PermissionUpdate) =>
        type !== 'setMode' || !('mode' in update) || update.mode !== 'bypassPermissions' || world.mayBypass;
      await world.rules.apply(updates.filter(isOpen));
    },
  };
}

export function runWorld(worker: Worker, world: SessionWorld, hear: Hear): RunWorld {
  return {
    ...hear,
    hooks: world.hooks,
    who: worker.who,
    callServer: async (server, tool, args, options) => {
      const target = worker.target(server);
      if (!target) throw new HostError('unknown-server', server, 'it is gone');
      return callServer(target, { server, tool, args, ...options }, world.journal);
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
      isReadable: (path) => !isHidden(path, call, world),
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

/** Whoever must not call any tool of a server does not read from it either. */
function readerFor({ tool }: PoolCall, worker: Worker, world: SessionWorld): ResourceReader {
  const isAllowed = (server: string) =>
    removingRule(world.rules.current().rules, { name: mcpToolName(server, ''), server, tool: '' }) ===
    undefined;
  const results = { ...world.results, canUse: (name: string) => worker.pool().byName.has(name) };
  return resourceReader({
    servers: () => worker.readable().filter(isAllowed),
    featuresOf: worker.featuresOf,
    sourceOf: (server) => resultSource(results, { name: tool.name, server }),
  });
}

/** A path that was written one way and is another is decided on both ways; the stricter decision counts. */
function decideCall(
  call: PoolCall,
  change: ToolChange | undefined,
  worker: Worker,
  world: SessionWorld,
): Decision {
  const rules = [...world.rules.current().rules, ...policyRules(worker.servers())];
  const decision = decideOn(call, call.input, { rules, change }, world);
  if (!call.written) return decision;
  const asWritten = decideOn(call, call.written, { rules, change }, world);
  return STRICTNESS[asWritten.kind] > STRICTNESS[decision.kind] ? asWritten : decision;
}

/** A program's own tools are its code, built-ins ours. */
function pinnedChange({ tool }: PoolCall, worker: Worker, world: SessionWorld): ToolChange | undefined {
  const { origin, listed } = tool;
  const server = origin.kind === 'mcp' ? worker.servers().get(origin.server) : undefined;
  return server && origin.kind === 'mcp' ? world.pins.changeOf(origin.server, server, listed) : undefined;
}

function remedy(change: ToolChange, { pins }: SessionWorld): { readonly remedy?: string } {
  const said = pins.remedyOf(change);
  return said === undefined ? {} : { remedy: said };
}

const STRICTNESS: Readonly<Record<Decision['kind'], number>> = { allow: 0, ask: 1, deny: 2 };

function decideOn(
  call: PoolCall,
  input: PoolCall['input'],
  { rules, change }: { readonly rules: readonly Rule[]; readonly change: ToolChange | undefined },
  world: SessionWorld,
): Decision {
  const { listed } = call.tool;
  return decide({
    call: ruleCall(call, input),
    rules,
    mode: modeOf(world.rules.current()),
    bypassLaunched: world.mayBypass,
    trusted: call.isTrusted,
    ...(listed.annotations && { annotations: listed.annotations }),
    ...(listed._meta?.['anthropic/requiresUserInteraction'] === true && { needsPerson: true }),
    ...(change && { changed: { text: change.text, ...remedy(change, world) } }),
    workspace: world.workspace(),
  });
}

/** What a deny rule for `Read` or for the tool itself is about, searches do not show. */
function isHidden(path: string, { tool, builtIn }: PoolCall, world: SessionWorld): boolean {
  const member = builtIn?.pathMember;
  const calls = [
    { name: 'Read', input: { file_path: path } },
    ...(member === undefined ? [] : [{ name: tool.name, input: { [member]: path } }]),
  ];
  const denied = world.rules.current().rules.filter(({ effect }) => effect === 'deny');
  return denied.some((rule) => calls.some((call) => matchesCall(rule, call, world.workspace())));
}
