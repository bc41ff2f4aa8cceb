import { sliceText } from '../../base/text/display-text.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import { matchesTool, removingRule, type ToolRef } from '../../permissions/match.ts';
import { policyRules, type Rule } from '../../permissions/rule.ts';

import { Assembler } from '../../pool/assemble.ts';
import type { Origin, Pool, PoolDiagnostic, PoolInput } from '../../pool/pool.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { STRUCTURED_OUTPUT } from '../builtins/structured-output.ts';
import type { SessionContext } from '../calls/call-context.ts';
import type { AgentDefinition } from '../session/agent-definition.ts';

/** The agent that a pool is for: the lead, or a sub-agent with its definition and own servers. */
export type PoolOwner = {
  readonly definition?: AgentDefinition;
  readonly ownServers?: Servers;
  /** The definition that the lead works by, if the program selected one (`--agent`). */
  lead?(): AgentDefinition | undefined;
};

/** Sub-agents neither delegate nor connect servers, and only the lead gives the structured output. */
const LEAD_ONLY: ReadonlySet<string> = new Set(['Task', 'connect_mcp', STRUCTURED_OUTPUT]);

/** The pool of one agent. Only changed parts are assembled again; the same pool is returned while nothing changes. */
export function poolSource(session: SessionContext, owner: PoolOwner): () => Pool {
  const assembler = new Assembler();
  let last: { readonly key: readonly unknown[]; readonly pool: Pool } | undefined;
  let active: ActiveRules | undefined;
  let builtIns: { readonly kinds: string; readonly listed: readonly ListedTool[] } | undefined;
  return () => {
    const { rules } = session.rules.current();
    const kinds = [session.builtIns.length, ...kindsOf(session)].join();
    const lead = owner.lead?.();
    const key = [session.servers.version, owner.ownServers?.version, rules, kinds, lead];
    if (last?.key.every((part, at) => part === key[at])) return last.pool;
    active = activeRules(rules, serversFor(session, owner), last?.key.at(-1) === lead ? active : undefined);
    if (builtIns?.kinds !== kinds) builtIns = { kinds, listed: builtInsOf(session) };
    last = { key, pool: assembler.assemble(inputOf(session, owner, active, builtIns.listed)) };
    reportAliases(last.pool, session);
    return last.pool;
  };
}

/** Reports once per session that a tool is offered under an alias. */
function reportAliases({ diagnostics }: Pool, session: SessionContext): void {
  const reported = aliases.get(session) ?? new Set<string>();
  aliases.set(session, reported);
  for (const { fault, origin, wanted, name } of diagnostics) {
    if (reported.has(name) || reported.size >= MAX_REPORTED_ALIASES) continue;
    reported.add(name);
    const whose =
      origin.kind === 'mcp' ? `tool "${origin.tool}" of server "${origin.server}"` : `tool "${origin.tool}"`;
    session.note(
      `${sliceText(whose, 300)} is offered as ${name}: ${ALIAS_REASON[fault]} (${sliceText(wanted, 200)})`,
    );
  }
}

const MAX_REPORTED_ALIASES = 100;
const aliases = new WeakMap<SessionContext, Set<string>>();
const ALIAS_REASON: Readonly<Record<PoolDiagnostic['fault'], string>> = {
  'name-taken': 'another tool already has its full name',
  'name-too-long': 'its full name is too long for the model',
  'name-empty': 'its name has no characters that a model accepts',
  'listed-twice': 'the tool is listed twice, and the first definition is used',
};

/** All active rules, as one value whose identity changes with them. */
type ActiveRules = {
  readonly from: readonly Rule[];
  readonly policies: string;
  readonly rules: readonly Rule[];
};

function activeRules(
  rules: readonly Rule[],
  servers: ReadonlyMap<string, Server>,
  before: ActiveRules | undefined,
): ActiveRules {
  const ofServers = policyRules(servers);
  const policies = JSON.stringify(ofServers);
  if (before?.from === rules && before.policies === policies) return before;
  return { from: rules, policies, rules: [...rules, ...ofServers] };
}

/** The servers an agent can reach, by key; servers of its own shadow those of the session. */
export function serversFor(session: SessionContext, { ownServers }: PoolOwner): ReadonlyMap<string, Server> {
  return ownServers ? new Map([...session.servers.all, ...ownServers.all]) : session.servers.all;
}

/** Whether an agent may use the session's server with that key: a sub-agent may be limited to some servers. */
export function isInherited(
  session: Pick<SessionContext, 'isLeadOnly'>,
  { definition, ownServers }: PoolOwner,
  key: string,
): boolean {
  if ((definition && session.isLeadOnly) || ownServers?.all.has(key)) return false;
  const names = definition?.mcpServers?.filter((it) => typeof it === 'string');
  return !names || names.includes(key);
}

export function connectedServers(servers: Servers): string[] {
  return [...servers.all].flatMap(([key, { state }]) => (state.kind === 'connected' ? [key] : []));
}

function inputOf(
  session: SessionContext,
  owner: PoolOwner,
  active: ActiveRules,
  builtIns: readonly ListedTool[],
): PoolInput {
  const inherited = [...session.servers.tools].filter(([key]) => isInherited(session, owner, key));
  return {
    builtIns,
    servers: new Map([...inherited, ...(owner.ownServers?.tools ?? [])]),
    maxNameLength: session.model.limits.toolName,
    marks: session.hasMarks,
    rulesKey: active,
    isDenied: (name, origin) =>
      removingRule(active.rules, ref(name, origin)) !== undefined ||
      !isOffered(ref(name, origin), owner.definition) ||
      (name !== STRUCTURED_OUTPUT && !isListed(ref(name, origin), owner.lead?.())),
    alwaysLoadServers: new Set(
      [...serversFor(session, owner)].flatMap(([key, { entry }]) =>
        'alwaysLoad' in entry && entry.alwaysLoad === true ? [key] : [],
      ),
    ),
  };
}

function builtInsOf(session: SessionContext): ListedTool[] {
  return session.builtIns.map(({ listed }) => (listed.name === 'Task' ? withKinds(listed, session) : listed));
}

function withKinds(listed: ListedTool, session: SessionContext): ListedTool {
  return {
    ...listed,
    description: [listed.description, 'Kinds of sub-agents:', ...kindsOf(session)].join('\n'),
  };
}

function kindsOf({ agents }: SessionContext): string[] {
  return Object.entries(agents).map(([name, { description }]) => `- ${name}: ${description}`);
}

function isOffered(tool: ToolRef, definition: AgentDefinition | undefined): boolean {
  return !definition || (!LEAD_ONLY.has(tool.name) && isListed(tool, definition));
}

/** The tool lists of a definition match like deny rules: whole servers, patterns, aliases, the server's own names. */
function isListed(tool: ToolRef, { tools, disallowedTools = [] }: Partial<AgentDefinition> = {}): boolean {
  const isMatched = (names: readonly string[]) =>
    names.some((it) => matchesTool({ tool: it, effect: 'deny', source: 'session' }, tool));
  return (tools === undefined || isMatched(tools)) && !isMatched(disallowedTools);
}

function ref(name: string, origin: Origin): ToolRef {
  return origin.kind === 'mcp' ? { name, server: origin.server, tool: origin.tool } : { name };
}
