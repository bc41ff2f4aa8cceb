import { isRecord } from '../base/is-record.ts';
import type { PermissionUpdate } from '../protocol/permission.ts';
import type { ToolCall } from './agent/tool-call.ts';
import { realInput } from './builtin/real-path.ts';
import type { PermitWorld } from './call/permit.ts';
import { type PoolCall, ruleCall } from './call/pool-call.ts';
import type { RunWorld } from './call/run-call.ts';
import { HostError } from './connect/host-error.ts';
import { isTrustedEntry } from './connect/world.ts';
import { type Decision, decide } from './permission/decide.ts';
import { matchesCall } from './permission/match.ts';
import type { Rule } from './permission/rule.ts';
import { modeOf } from './permission/rule-store.ts';
import type { PooledTool } from './pool/assemble.ts';
import { policyRules } from './server-policy.ts';
import { callServer } from './servers/call/call-server.ts';
import type { SessionWorld } from './session-world.ts';
import type { Worker } from './worker.ts';

/** What hooks say beside their decisions. */
type Hear = Pick<PermitWorld, 'note' | 'stop'>;

/** A model's call, with what the session knows of its tool. */
export function poolCall(made: ToolCall, tool: PooledTool, worker: Worker, world: SessionWorld): PoolCall {
  const { origin } = tool;
  const input = isRecord(made.input) ? made.input : {};
  if (origin.kind === 'builtin') {
    const builtIn = world.builtIns.find(({ listed }) => listed.name === origin.tool);
    return { id: made.id, tool, input, isTrusted: true, ...(builtIn && { builtIn }) };
  }
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
  return {
    ...hear,
    hooks: world.hooks,
    who: worker.who,
    mode: () => modeOf(world.rules.current()),
    workspace: () => world.workspace(),
    askers: world.askers,
    waiting: (work) => world.waiting(work),
    resolve: async (call) => {
      if (!call.builtIn) return call;
      const real = await realInput(call.builtIn, call.input, world.workspace());
      if (real.kind === 'unresolved') return { fault: real.fault };
      return real.input === call.input ? call : { ...call, input: real.input, written: call.input };
    },
    decide: (call) => decideCall(call, worker, world),
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
    save: world.save,
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
      delegate: (request, signal) => worker.delegate(call, request, signal),
    }),
  };
}

/** A path that was written one way and is another is decided on both ways; the stricter decision counts. */
function decideCall(call: PoolCall, worker: Worker, world: SessionWorld): Decision {
  const rules = [...world.rules.current().rules, ...policyRules(worker.servers())];
  const decision = decideOn(call, call.input, rules, world);
  if (!call.written) return decision;
  const asWritten = decideOn(call, call.written, rules, world);
  return STRICTNESS[asWritten.kind] > STRICTNESS[decision.kind] ? asWritten : decision;
}

const STRICTNESS: Readonly<Record<Decision['kind'], number>> = { allow: 0, ask: 1, deny: 2 };

function decideOn(
  call: PoolCall,
  input: PoolCall['input'],
  rules: readonly Rule[],
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
