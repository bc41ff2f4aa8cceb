import { sliceText } from '../../base/text/display-text.ts';
import type { Server } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import { matchesTool, removingRule, type ToolRef } from '../../permissions/match.ts';
import { policyRules, type Rule } from '../../permissions/rule.ts';

import { Assembler } from '../../pool/assemble.ts';
import type { Origin, Pool, PoolDiagnostic, PoolInput } from '../../pool/pool.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { currentToolName } from '../../protocol/tool-name.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import { STRUCTURED_OUTPUT } from '../builtins/structured-output.ts';
import type { SessionContext } from '../calls/call-context.ts';

/** The agent that a pool is for: the lead, or a sub-agent with its definition and own servers. */
export type PoolOwner = {
  readonly definition?: AgentDefinition;
  readonly ownServers?: Servers;
  /** How many agents are above a sub-agent. */
  readonly depth?: number;
  /** A teammate works on the task list too. */
  readonly isTeammate?: boolean;
  /** The definition that the lead works by, if the program selected one (`--agent`). */
  lead?(): AgentDefinition | undefined;
};

/** Sub-agents neither connect servers nor ask the user, and only the lead has lists and the structured output. */
const LEAD_ONLY: ReadonlySet<string> = new Set([
  'ClaimTask',
  'CompleteTask',
  'AskUserQuestion',
  'EnterPlanMode',
  'EnterWorktree',
  'ExitPlanMode',
  'ExitWorktree',
  'ScheduleWakeup',
  'SubmitPlan',
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
  'connect_mcp',
  STRUCTURED_OUTPUT,
]);
/**
 * The tools of `LEAD_ONLY` that teammates have too. Teammates complete tasks with `CompleteTask`, which merges their
 * work.
 */
const TEAM_TOOLS: ReadonlySet<string> = new Set([
  'ClaimTask',
  'CompleteTask',
  'SubmitPlan',
  'TaskCreate',
  'TaskGet',
  'TaskList',
]);
/** An agent of this depth starts no others. */
export const MAX_AGENT_DEPTH = 3;

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
      !isOffered(ref(name, origin), owner) ||
      (name !== STRUCTURED_OUTPUT && !isListed(ref(name, origin), owner.lead?.())),
    alwaysLoadServers: new Set(
      [...serversFor(session, owner)].flatMap(([key, { entry }]) =>
        'alwaysLoad' in entry && entry.alwaysLoad === true ? [key] : [],
      ),
    ),
  };
}

function builtInsOf(session: SessionContext): ListedTool[] {
  return session.builtIns.map(({ listed }) =>
    listed.name === 'Agent' ? withKinds(listed, session) : listed,
  );
}

function withKinds(listed: ListedTool, session: SessionContext): ListedTool {
  return {
    ...listed,
    description: [listed.description, 'Types of sub-agents:', ...kindsOf(session)].join('\n'),
  };
}

const BY_NAME = new Intl.Collator('en');

function kindsOf({ agents }: SessionContext): string[] {
  const sorted = Object.entries(agents).toSorted(([a], [b]) => BY_NAME.compare(a, b));
  return sorted.map(([name, agent]) => `- ${name}: ${agent.description} (Tools: ${toolsText(agent)})`);
}

function toolsText({ tools, disallowedTools = [] }: AgentDefinition): string {
  if (tools) return tools.join(', ') || 'none';
  return disallowedTools.length === 0 ? '*' : `all tools except ${disallowedTools.join(', ')}`;
}

function isOffered(tool: ToolRef, { definition, depth = 0, isTeammate = false }: PoolOwner): boolean {
  if (!definition) return true;
  if (tool.name === 'Agent' && depth >= MAX_AGENT_DEPTH) return false;
  // Whatever tools its definition lists: a teammate without them could not take part.
  if (isTeammate && TEAM_TOOLS.has(tool.name)) return isListed(tool, withoutTools(definition));
  return !LEAD_ONLY.has(tool.name) && isListed(tool, definition);
}

function withoutTools({ disallowedTools = [] }: AgentDefinition): Partial<AgentDefinition> {
  return { disallowedTools };
}

/** The tool lists of a definition match like deny rules: whole servers, patterns, aliases, the server's own names. */
function isListed(tool: ToolRef, { tools, disallowedTools = [] }: Partial<AgentDefinition> = {}): boolean {
  const isMatched = (names: readonly string[]) =>
    names.some((it) => matchesTool({ tool: currentToolName(it), effect: 'deny', source: 'session' }, tool));
  return (tools === undefined || isMatched(tools)) && !isMatched(disallowedTools);
}

function ref(name: string, origin: Origin): ToolRef {
  return origin.kind === 'mcp' ? { name, server: origin.server, tool: origin.tool } : { name };
}
