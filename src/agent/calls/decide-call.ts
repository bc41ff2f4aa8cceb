import { type Decision, decide, type Situation } from '../../permissions/decide.ts';
import type { Workspace } from '../../permissions/path.ts';
import { policyRules } from '../../permissions/rule.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import { isPlainlyNew, type ToolChange } from '../../pool/pinning/judge.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { SessionWorld, Worker } from './call-context.ts';
import { type PoolCall, ruleCall } from './pool-call.ts';

/**
 * What rules and mode say of a call. A path that was written one way and is another is decided on both ways, and what is
 * read of a server as something of that server, too; the strictest decision counts.
 */
export function decideCall(
  call: PoolCall,
  change: ToolChange | undefined,
  worker: Worker,
  world: SessionWorld,
): Decision {
  const common = {
    rules: [...world.rules.current().rules, ...policyRules(worker.servers())],
    mode: modeOf(world.rules.current()),
    bypassLaunched: world.mayBypass,
    workspace: workspaceOf(call, world),
  };
  const about = { ...common, ...situationOf(call, change, world) };
  // Also those a sub-agent does not have: a rule may be meant for them.
  const servers = [...new Set([...world.servers.all.keys(), ...worker.servers().keys()])];
  const decision = decide({ ...about, call: { ...ruleCall(call, call.input), servers } });
  const others = [
    ...(call.written ? [decide({ ...about, call: { ...ruleCall(call, call.written), servers } })] : []),
    ...decideReading(call, common),
  ];
  return others.reduce((one, it) => (STRICTNESS[it.kind] > STRICTNESS[one.kind] ? it : one), decision);
}

/** What the call's paths are measured against. */
export function workspaceOf({ links = [] }: PoolCall, world: Pick<SessionWorld, 'workspace'>): Workspace {
  return { ...world.workspace(), links };
}

/** How a tool differs from what was accepted. A program's own tools are its code, built-ins ours. */
export function pinnedChange(
  { tool }: PoolCall,
  worker: Worker,
  world: SessionWorld,
): ToolChange | undefined {
  const { origin, listed } = tool;
  const server = origin.kind === 'mcp' ? worker.servers().get(origin.server) : undefined;
  return server && origin.kind === 'mcp' ? world.pins.changeOf(origin.server, server, listed) : undefined;
}

const STRICTNESS: Readonly<Record<Decision['kind'], number>> = { allow: 0, ask: 1, deny: 2 };

function situationOf(call: PoolCall, change: ToolChange | undefined, world: SessionWorld) {
  const { listed } = call.tool;
  return {
    trusted: call.isTrusted,
    ...(listed.annotations && { annotations: listed.annotations }),
    ...(listed._meta?.['anthropic/requiresUserInteraction'] === true && { needsPerson: true }),
    ...(change && {
      changed: {
        text: change.text,
        remedy: world.pins.remedyOf(change),
        ...(isPlainlyNew(change) && { isNew: true }),
      },
    }),
    ...(call.doubt !== undefined && { doubt: call.doubt }),
  };
}

/** Where somebody is asked before any tool of a server runs, nothing is read of it unasked; what is denied the reader leaves out. */
function decideReading(
  { builtIn, input }: PoolCall,
  common: Pick<Situation, 'rules' | 'mode' | 'bypassLaunched' | 'workspace'>,
): Decision[] {
  const { server } = input;
  if (builtIn?.uriMember === undefined || typeof server !== 'string') return [];
  const call = { name: mcpToolName(server, ''), server, tool: '', input };
  const rules = common.rules.filter(({ effect }) => effect === 'ask');
  return [decide({ ...common, call, rules, trusted: true, annotations: { readOnlyHint: true } })];
}
