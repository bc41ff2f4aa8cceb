import type { ListedTool } from '../protocol/mcp.ts';
import { normalizeName } from '../protocol/tool-name.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { Rule } from './permission/rule.ts';
import { removingRule } from './permission/unmatched.ts';
import { assemble, type Origin, type Pool } from './pool/assemble.ts';
import { policyRules } from './server-policy.ts';
import type { Server } from './servers/server.ts';
import type { Servers } from './servers/servers.ts';
import type { SessionWorld } from './session-world.ts';

/** Who is offered tools: the lead, or a sub-agent of some kind with servers of its own. */
export type PoolUser = {
  readonly definition?: AgentDefinition;
  readonly ownServers?: Servers;
};

/** Tools a sub-agent never has: it neither delegates further nor changes which servers there are. */
const LEAD_ONLY: ReadonlySet<string> = new Set(['Task', 'connect_mcp']);

/** The pool for one agent, made anew only when something it is made of has changed. */
export function poolSource(world: SessionWorld, user: PoolUser): () => Pool {
  let made: { key: readonly unknown[]; pool: Pool } | undefined;
  return () => {
    const { rules } = world.rules.current();
    const kinds = kindsOf(world).join();
    const key = [world.servers.version, user.ownServers?.version, rules, kinds];
    if (!made || made.key.some((part, at) => part !== key[at])) {
      made = { key, pool: makePool(world, user, [...rules, ...policyRules(serversFor(world, user))]) };
    }
    return made.pool;
  };
}

/** Who a worker can reach, by key: servers of its own stand before those of the session. */
export function serversFor(world: SessionWorld, { ownServers }: PoolUser): ReadonlyMap<string, Server> {
  return ownServers ? new Map([...world.servers.all, ...ownServers.all]) : world.servers.all;
}

function makePool(world: SessionWorld, user: PoolUser, rules: readonly Rule[]): Pool {
  const { ownServers } = user;
  const shared = user.definition && world.isLeadOnly ? [] : [...world.servers.tools];
  const inherited = shared.filter(([key]) => !ownServers?.all.has(key));
  const names = user.definition?.mcpServers?.filter((it) => typeof it === 'string');
  const chosen = names ? inherited.filter(([key]) => names.includes(key)) : inherited;
  return assemble({
    builtIns: world.builtIns.map(({ listed }) =>
      listed.name === 'Task' ? withKinds(listed, world) : listed,
    ),
    servers: new Map([...chosen, ...(ownServers?.tools ?? [])]),
    maxNameLength: world.model.limits.toolName,
    marks: world.hasMarks,
    isDenied: (name, origin) =>
      removingRule(rules, ref(name, origin)) !== undefined || !isOffered(name, origin, user.definition),
  });
}

function withKinds(listed: ListedTool, world: SessionWorld): ListedTool {
  return {
    ...listed,
    description: [listed.description, 'Kinds of sub-agents:', ...kindsOf(world)].join('\n'),
  };
}

function kindsOf({ agents }: SessionWorld): string[] {
  return Object.entries(agents).map(([name, { description }]) => `- ${name}: ${description}`);
}

function isOffered(name: string, origin: Origin, definition: AgentDefinition | undefined): boolean {
  if (!definition) return true;
  if (LEAD_ONLY.has(name)) return false;
  const { tools, disallowedTools = [] } = definition;
  const isNamed = (names: readonly string[]) =>
    names.some(
      (it) => it === name || it === '*' || (origin.kind === 'mcp' && isServerName(it, origin.server)),
    );
  return (tools === undefined || isNamed(tools)) && !isNamed(disallowedTools);
}

/** `mcp__server` and `mcp__server__*` are all tools of the server. */
function isServerName(name: string, server: string): boolean {
  const prefix = `mcp__${normalizeName(server)}`;
  return name === prefix || name === `${prefix}__*`;
}

function ref(name: string, origin: Origin) {
  return origin.kind === 'mcp' ? { name, server: origin.server, tool: origin.tool } : { name };
}
