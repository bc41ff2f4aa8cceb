import { sliceText } from '../../base/text/display-text.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import { matchesTool, removingRule, type ToolRef } from '../../permissions/match.ts';
import { policyRules, type Rule } from '../../permissions/rule.ts';

import { Assembler } from '../../pool/assemble.ts';
import type { Origin, Pool, PoolDiagnostic, PoolInput } from '../../pool/pool.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { SessionContext } from '../calls/call-context.ts';
import type { AgentDefinition } from '../session/agent-definition.ts';

/** Who is offered tools: the lead, or a sub-agent of some kind with servers of its own. */
export type PoolUser = {
  readonly definition?: AgentDefinition;
  readonly ownServers?: Servers;
};

/** Tools a sub-agent never has: it neither delegates further nor changes which servers there are. */
const LEAD_ONLY: ReadonlySet<string> = new Set(['Task', 'connect_mcp']);

/** The pool for one agent; only what has changed is made anew, and the same pool is given while nothing has. */
export function poolSource(world: SessionContext, user: PoolUser): () => Pool {
  const assembler = new Assembler();
  let made: { readonly key: readonly unknown[]; readonly pool: Pool } | undefined;
  let judged: Judged | undefined;
  let builtIns: { readonly kinds: string; readonly listed: readonly ListedTool[] } | undefined;
  return () => {
    const { rules } = world.rules.current();
    const kinds = kindsOf(world).join();
    const key = [world.servers.version, user.ownServers?.version, rules, kinds];
    if (made?.key.every((part, at) => part === key[at])) return made.pool;
    judged = judge(rules, serversFor(world, user), judged);
    if (builtIns?.kinds !== kinds) builtIns = { kinds, listed: builtInsOf(world) };
    made = { key, pool: assembler.assemble(inputOf(world, user, judged, builtIns.listed)) };
    reportAliases(made.pool, world);
    return made.pool;
  };
}

/** That a tool has another name than its own is told once a session. */
function reportAliases({ diagnostics }: Pool, world: SessionContext): void {
  const told = aliases.get(world) ?? new Set<string>();
  aliases.set(world, told);
  for (const { fault, origin, wanted, name } of diagnostics) {
    if (told.has(name) || told.size >= MAX_REPORTED_ALIASES) continue;
    told.add(name);
    const whose =
      origin.kind === 'mcp' ? `tool "${origin.tool}" of server "${origin.server}"` : `tool "${origin.tool}"`;
    world.note(`${sliceText(whose, 300)} is offered as ${name}: ${WHY[fault]} (${sliceText(wanted, 200)})`);
  }
}

const MAX_REPORTED_ALIASES = 100;
const aliases = new WeakMap<SessionContext, Set<string>>();
const WHY: Readonly<Record<PoolDiagnostic['fault'], string>> = {
  'name-taken': 'another tool has its name',
  'name-too-long': 'its name is too long for the model',
  'name-empty': 'it has no name a model could say',
  'listed-twice': 'it is listed twice, and the first is used',
};

/** The rules in force, as one value that is another whenever they are. */
type Judged = { readonly from: readonly Rule[]; readonly policies: string; readonly rules: readonly Rule[] };

function judge(
  rules: readonly Rule[],
  servers: ReadonlyMap<string, Server>,
  before: Judged | undefined,
): Judged {
  const own = policyRules(servers);
  const policies = JSON.stringify(own);
  if (before?.from === rules && before.policies === policies) return before;
  return { from: rules, policies, rules: [...rules, ...own] };
}

/** Who a worker can reach, by key: servers of its own stand before those of the session. */
export function serversFor(world: SessionContext, { ownServers }: PoolUser): ReadonlyMap<string, Server> {
  return ownServers ? new Map([...world.servers.all, ...ownServers.all]) : world.servers.all;
}

/** Whether an agent has the session's server of that key: a sub-agent may be kept to some, and its own stand before them. */
export function isInherited(
  world: Pick<SessionContext, 'isLeadOnly'>,
  { definition, ownServers }: PoolUser,
  key: string,
): boolean {
  if ((definition && world.isLeadOnly) || ownServers?.all.has(key)) return false;
  const names = definition?.mcpServers?.filter((it) => typeof it === 'string');
  return !names || names.includes(key);
}

/** The keys of those that are connected. */
export function connectedServers(servers: Servers): string[] {
  return [...servers.all].flatMap(([key, { state }]) => (state.kind === 'connected' ? [key] : []));
}

function inputOf(
  world: SessionContext,
  user: PoolUser,
  judged: Judged,
  builtIns: readonly ListedTool[],
): PoolInput {
  const inherited = [...world.servers.tools].filter(([key]) => isInherited(world, user, key));
  return {
    builtIns,
    servers: new Map([...inherited, ...(user.ownServers?.tools ?? [])]),
    maxNameLength: world.model.limits.toolName,
    marks: world.hasMarks,
    rulesKey: judged,
    isDenied: (name, origin) =>
      removingRule(judged.rules, ref(name, origin)) !== undefined ||
      !isOffered(ref(name, origin), user.definition),
    alwaysLoadServers: new Set(
      [...serversFor(world, user)].flatMap(([key, { entry }]) =>
        'alwaysLoad' in entry && entry.alwaysLoad === true ? [key] : [],
      ),
    ),
  };
}

function builtInsOf(world: SessionContext): ListedTool[] {
  return world.builtIns.map(({ listed }) => (listed.name === 'Task' ? withKinds(listed, world) : listed));
}

function withKinds(listed: ListedTool, world: SessionContext): ListedTool {
  return {
    ...listed,
    description: [listed.description, 'Kinds of sub-agents:', ...kindsOf(world)].join('\n'),
  };
}

function kindsOf({ agents }: SessionContext): string[] {
  return Object.entries(agents).map(([name, { description }]) => `- ${name}: ${description}`);
}

/** The lists of a definition name tools as deny rules do: whole servers, patterns, aliases, names as the server writes them. */
function isOffered(tool: ToolRef, definition: AgentDefinition | undefined): boolean {
  if (!definition) return true;
  if (LEAD_ONLY.has(tool.name)) return false;
  const { tools, disallowedTools = [] } = definition;
  const isNamed = (names: readonly string[]) =>
    names.some((it) => matchesTool({ tool: it, effect: 'deny', source: 'session' }, tool));
  return (tools === undefined || isNamed(tools)) && !isNamed(disallowedTools);
}

function ref(name: string, origin: Origin): ToolRef {
  return origin.kind === 'mcp' ? { name, server: origin.server, tool: origin.tool } : { name };
}
