import { shellArguments, shellQuote } from '../../base/text/display-text.ts';
import { isIncluded } from '../../mcp/discovery/tool-filter.ts';
import { removingRule, type ToolRef } from '../../permissions/match.ts';
import { type Rule, ruleText } from '../../permissions/rule.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import { guessToolName, mcpToolName, writtenToolName } from '../../protocol/tool-name.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer } from '../model.ts';
import { type CallFacts, explainPermission } from './explain-permission.ts';
import { explainServer } from './explain-server.ts';
import { timeoutsOf } from './explain-timeout.ts';
import {
  formatLocation,
  locationInSettings,
  locationOf,
  type PermissionExplanation,
  type ServerExplanation,
  type ToolExplanation,
} from './explanation.ts';
import { type LiveTool, resolveTool, similarNames } from './resolve-tool.ts';
import type { Observed } from './server-record.ts';

/** What the contacted servers list. */
export type LiveTools = {
  readonly tools: readonly (LiveTool & {
    readonly tokens: number;
    readonly annotations?: ToolAnnotations;
    readonly changed?: string;
    /** It was added after its server was accepted. */
    readonly isNew?: boolean;
    /** Why its name is not `mcp__<server>__<tool>`. */
    readonly renamed?: string;
    readonly deferred: { readonly is: boolean; readonly says: string };
  })[];
  /** Tools that discovery dropped. */
  readonly dropped?: readonly DroppedTool[];
  readonly builtIns: readonly string[];
  /** The closest known tool. */
  readonly suggestion?: string;
};

/** A tool that its server lists and discovery dropped because of `fault`; without `tool`, the rest of the list. */
export type DroppedTool = { readonly server: string; readonly tool?: string; readonly fault: string };

/** All listed tools, including dropped ones. */
export function namedTools({ tools, dropped = [] }: LiveTools): LiveTool[] {
  const droppedTools = dropped.flatMap(({ server, tool }) =>
    tool === undefined ? [] : [{ name: mcpToolName(server, tool), server, tool }],
  );
  return [...tools, ...droppedTools];
}

/** One tool: its server, whether and why it is offered to models, its token cost, and whether it may run. */
export function explainTool(
  configuration: Configuration,
  name: string,
  {
    live,
    rules = [],
    ...observed
  }: Observed & { readonly live?: LiveTools; readonly rules?: readonly Rule[] } = {},
): ToolExplanation {
  const ref = resolveTool(configuration, name, live && namedTools(live));
  const found = live?.tools.find((it) => it.server === ref.server && it.tool === ref.tool);
  const facts: CallFacts = {
    ref,
    rules,
    isBuiltIn: live?.builtIns.includes(name) === true,
    isAsked: found !== undefined || observed.status?.state === 'connected',
    ...(found?.annotations && { annotations: found.annotations }),
    ...(found?.changed !== undefined && { changed: found.changed }),
    ...(found?.isNew && { isNew: true }),
  };
  if (ref.server === undefined) return withoutServer(configuration, name, facts, live);
  const server = configuration.merged.servers.find((it) => it.name === ref.server) as ConfiguredServer;
  const its = explainServer(configuration, server.name, observed);
  const permission = explainPermission(configuration, ref.name, facts);
  const listed = offeredOf(configuration, server, ref, { its, found: found !== undefined, live });
  const offered = (listed.is && removedBy(configuration, ref, rules)) || listed;
  const isKnown = !offered.isAbsent;
  const { is, says } = offered;
  return {
    kind: 'tool',
    name,
    answer: answerOf(ref.name, offered, permission),
    status: !isKnown ? 'unknown' : is && permission.decision !== 'deny' ? 'usable' : 'unusable',
    server: server.name,
    tool: ref.tool ?? '',
    pooledName: ref.name,
    naming: found?.renamed ?? namingOf(server.name, ref.tool ?? '', ref.name),
    offered: { is, says },
    ...(found && { deferred: found.deferred, tokens: found.tokens }),
    ...(found?.changed !== undefined && { changed: found.changed }),
    connection: its.connection,
    permission,
    timeouts: server.entry ? timeoutsOf(server, configuration, ref.tool) : [],
    next: nextOf(offered, permission, { its, server, suggestion: isKnown ? undefined : live?.suggestion }),
  };
}

type Offered = ToolExplanation['offered'] & {
  /** The server was contacted and does not list the tool. */
  readonly isAbsent?: boolean;
  /** The location of the list that excludes it. */
  readonly choice?: string;
  /** A deny rule removes it; the explanation of its permission names the rule. */
  readonly isDenied?: boolean;
  /** Discovery dropped it. */
  readonly isDropped?: boolean;
  /** Why its server cannot be used. */
  readonly why?: string;
};

/** A deny rule for the whole tool removes it from the tools that are offered to models. */
function removedBy({ settings }: Configuration, ref: ToolRef, rules: readonly Rule[]): Offered | undefined {
  const rule = removingRule([...settings.rules, ...rules], ref);
  return rule && { is: false, says: `deny rule "${ruleText(rule)}" removes it`, isDenied: true };
}

function offeredOf(
  configuration: Configuration,
  server: ConfiguredServer,
  { name, tool = '' }: ToolRef,
  { its, found, live }: { its: ServerExplanation; found: boolean; live: LiveTools | undefined },
): Offered {
  const member = excludingMember(server, tool);
  if (member !== undefined) {
    const by = server.settled.find((it) => it.member === member);
    const at = by
      ? locationInSettings(configuration.settingsSources, by, ['serverSettings', server.name, member])
      : locationOf(server.written);
    return {
      is: false,
      says: `"${member}" at ${formatLocation(at)} excludes it`,
      choice: formatLocation(at),
    };
  }
  if (its.status !== 'usable') return { is: false, says: 'its server cannot be used', why: its.answer };
  if (live === undefined || its.connection === 'not asked') {
    return {
      is: true,
      says: 'no setting excludes it; the server was not contacted to check that it lists it',
    };
  }
  if (found) return { is: true, says: 'its server lists it, and no setting excludes it' };
  const dropped = live.dropped?.filter((it) => it.server === server.name) ?? [];
  const isIt = ({ tool: it }: DroppedTool) =>
    it !== undefined && (it === tool || mcpToolName(server.name, it) === name);
  const own = dropped.find(isIt);
  if (own) return { is: false, says: `its server lists it, but ${own.fault}`, isDropped: true };
  const rest = dropped.find((it) => it.tool === undefined);
  const unread = rest === undefined ? '' : ` in the part that was read: ${rest.fault}`;
  return { is: false, says: `its server does not list it${unread}`, isAbsent: true };
}

/** The list of the entry that excludes the tool. */
function excludingMember(
  { entry }: ConfiguredServer,
  tool: string,
): 'includeTools' | 'excludeTools' | undefined {
  if (!entry) return undefined;
  const { includeTools, excludeTools } = entry;
  if (excludeTools && !isIncluded(tool, { excludeTools })) return 'excludeTools';
  return includeTools && !isIncluded(tool, { includeTools }) ? 'includeTools' : undefined;
}

function namingOf(server: string, tool: string, name: string): string {
  const plain = writtenToolName(server, tool);
  if (name !== mcpToolName(server, tool)) return `models see it as ${name}`;
  return name === plain
    ? 'models see it by this name'
    : `models see it as ${name}: characters other than letters, digits, _ and - become _`;
}

/** A built-in tool, or an unknown name. */
function withoutServer(
  configuration: Configuration,
  name: string,
  facts: CallFacts,
  live: LiveTools | undefined,
): ToolExplanation {
  const permission = explainPermission(configuration, name, facts);
  const common = { kind: 'tool', name, connection: 'not asked', timeouts: [] } as const;
  if (facts.isBuiltIn) {
    const ref = resolveTool(configuration, name);
    const removed = removedBy(configuration, ref, facts.rules ?? []);
    const offered = { is: removed === undefined, says: removed?.says ?? 'it is a built-in tool' };
    return {
      ...common,
      answer: permission.answer,
      status: permission.decision === 'deny' ? 'unusable' : 'usable',
      offered,
      permission,
      next: permission.next,
    };
  }
  const server = guessToolName(name)?.server;
  const suggestion =
    live?.suggestion ?? (server === undefined ? undefined : similarNames(configuration, server)[0]);
  return {
    ...common,
    answer: `Unknown tool "${name}"${suggestion === undefined ? '.' : `; did you mean "${suggestion}"?`}`,
    status: 'unknown',
    offered: { is: false, says: 'no server of that name is configured' },
    next: [
      ...(server === undefined ? [] : [`toolplane explain server ${shellArguments(server)}`]),
      'to see all tools: toolplane tools',
    ],
  };
}

function answerOf(name: string, offered: Offered, permission: PermissionExplanation): string {
  if (offered.is || offered.isDenied) return permission.answer;
  return `${name} is not offered: ${offered.why ?? `${offered.says}.`}`;
}

function nextOf(
  offered: Offered,
  permission: PermissionExplanation,
  {
    its,
    server,
    suggestion,
  }: { its: ServerExplanation; server: ConfiguredServer; suggestion: string | undefined },
): string[] {
  if (offered.isDenied) return [...permission.next];
  if (offered.isDropped) return ['report this to the server’s author: the definition of the tool is invalid'];
  if (offered.choice !== undefined) return [`change the list at ${offered.choice}`];
  if (suggestion !== undefined) return [`toolplane explain tool ${shellArguments(suggestion)}`];
  if (its.status !== 'usable') return [...its.next];
  if (!offered.is) return [`to see its tools: toolplane tools -s ${shellQuote(server.name)}`];
  return [...permission.next];
}
