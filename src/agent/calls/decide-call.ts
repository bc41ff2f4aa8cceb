import { type Decision, decide, type Situation } from '../../permissions/decide.ts';
import type { Workspace } from '../../permissions/path.ts';
import { policyRules } from '../../permissions/rule.ts';
import { modeOf } from '../../permissions/rule-store.ts';
import { isUnremarkablyNew, type ToolChange } from '../../pool/pinning/tool-change.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { CallContext, SessionContext } from './call-context.ts';
import type { PoolCall } from './pool-call.ts';

/**
 * Decides a call by rules, mode and annotations. A call whose path was resolved is decided for the original path too, and
 * a call that reads a resource also as a call to that resource's server; the strictest decision wins. `change` is how
 * the tool's definition differs from the accepted one.
 */
export function decideCall(
  call: PoolCall,
  { session, agent }: CallContext,
): { readonly decision: Decision; readonly change: ToolChange | undefined } {
  const change = pinnedChange(call, { session, agent });
  const current = session.rules.current();
  const common = {
    rules: [...current.rules, ...policyRules(agent.servers())],
    mode: modeOf(current),
    ...(current.blocksOutside && { blocksOutside: current.blocksOutside }),
    bypassLaunched: session.mayBypass,
    workspace: workspaceOf(call, session),
  };
  const situation = { ...common, ...situationOf(call, change, session) };
  // Servers of the session that a sub-agent does not have are included: a rule may name one of them.
  const servers = [...new Set([...session.servers.all.keys(), ...agent.servers().keys()])];
  const { input, originalInput } = call;
  const decisions = [
    ...[input, ...(originalInput ? [originalInput] : [])].map((it) =>
      decide({ ...situation, call: { ...call, input: it, servers } }),
    ),
    ...decideReading(call, common),
  ];
  const decision = decisions.reduce((one, it) => (STRICTNESS[it.kind] > STRICTNESS[one.kind] ? it : one));
  return { decision, change };
}

/** The workspace that the paths of the call are compared with. */
export function workspaceOf({ links = [] }: PoolCall, session: Pick<SessionContext, 'workspace'>): Workspace {
  return { ...session.workspace(), links };
}

/** How a server's tool differs from its accepted definition; undefined for built-in tools, which are not pinned. */
function pinnedChange(
  { server: key, definition }: PoolCall,
  { session, agent }: Pick<CallContext, 'session' | 'agent'>,
): ToolChange | undefined {
  const server = key === undefined ? undefined : agent.servers().get(key);
  return server && key !== undefined ? session.pins.changeOf(key, server, definition.listed) : undefined;
}

const STRICTNESS: Readonly<Record<Decision['kind'], number>> = { allow: 0, ask: 1, deny: 2 };

function situationOf(
  { definition, isTrusted, effect, doubt, builtIn }: PoolCall,
  change: ToolChange | undefined,
  session: SessionContext,
) {
  const { annotations, _meta } = definition.listed;
  return {
    trusted: isTrusted,
    ...(annotations && { annotations }),
    ...(builtIn?.approval && { approval: builtIn.approval }),
    ...(_meta?.['anthropic/requiresUserInteraction'] === true && { needsPerson: true }),
    ...(change && {
      changed: {
        text: change.text,
        remedy: session.pins.remedyOf(change),
        ...(isUnremarkablyNew(change) && { isNew: true }),
      },
    }),
    ...(effect && { effect }),
    ...(doubt !== undefined && { doubt }),
  };
}

/**
 * An ask rule that covers every tool of a server also applies to reading a resource of that server. Deny rules need no
 * decision here: the resource reader leaves out the servers that they cover.
 */
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
