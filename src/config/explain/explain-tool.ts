import { shellArguments, shellQuote } from '../../base/text/display-text.ts';
import { isIncluded } from '../../mcp/discovery/tool-filter.ts';
import { removingRule, type ToolRef } from '../../permissions/match.ts';
import { type Rule, ruleText } from '../../permissions/rule.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import { guessToolName, mcpToolName, writtenToolName } from '../../protocol/tool-name.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer } from '../model.ts';
import { type CallFacts, explainPermission } from './explain-permission.ts';
import { timeoutsOf } from './explain-timeout.ts';
import { formatLocation, locationInSettings, locationOf, type ToolExplanation } from './explanation.ts';
import { type LiveTool, resolveTool, similarNames } from './resolve-tool.ts';
import { formatAnswer, isUsable, type Observed, type ServerRecord, serverRecord } from './server-record.ts';

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
  const record = serverRecord(configuration, ref.server, observed);
  const server = record.server as ConfiguredServer;
  const permission = explainPermission(configuration, ref.name, facts);
  const listed = offeringOf(configuration, record, ref, { isListed: found !== undefined, live });
  const { is, says, isAbsent, ...offering } = (listed.is && removedBy(configuration, ref, rules)) || listed;
  return {
    kind: 'tool',
    name,
    answer: offering.why === undefined ? permission.answer : `${ref.name} is not offered: ${offering.why}`,
    status: isAbsent ? 'unknown' : is && permission.decision !== 'deny' ? 'usable' : 'unusable',
    server: server.name,
    tool: ref.tool ?? '',
    pooledName: ref.name,
    naming: found?.renamed ?? namingOf(server.name, ref.tool ?? '', ref.name),
    offered: { is, says },
    ...(found && { deferred: found.deferred, tokens: found.tokens }),
    ...(found?.changed !== undefined && { changed: found.changed }),
    connection: record.connection,
    permission,
    timeouts: server.entry ? timeoutsOf(server, configuration, ref.tool) : [],
    next: offering.next ?? permission.next,
  };
}

type Offering = ToolExplanation['offered'] & {
  /** The server was contacted and does not list the tool. */
  readonly isAbsent?: boolean;
  /** Why the tool is not offered, unless the explanation of its permission says so. */
  readonly why?: string;
  /** What to do, unless the explanation of its permission says so. */
  readonly next?: readonly string[];
};

/** A deny rule for the whole tool removes it from the tools that are offered to models. */
function removedBy({ settings }: Configuration, ref: ToolRef, rules: readonly Rule[]): Offering | undefined {
  const rule = removingRule([...settings.rules, ...rules], ref);
  return rule && { is: false, says: `removed by deny rule "${ruleText(rule)}"` };
}

function offeringOf(
  configuration: Configuration,
  record: ServerRecord,
  { name, tool = '' }: ToolRef,
  { isListed, live }: { readonly isListed: boolean; readonly live: LiveTools | undefined },
): Offering {
  const server = record.server as ConfiguredServer;
  const denied = (says: string, ...next: string[]) => ({ is: false, says, why: `${says}.`, next });
  const member = excludingMember(server, tool);
  if (member !== undefined) {
    const by = server.settled.find((it) => it.member === member);
    const at = by
      ? locationInSettings(configuration.settingsSources, by, ['serverSettings', server.name, member])
      : locationOf(server.written);
    const place = formatLocation(at);
    return denied(`excluded by "${member}" at ${place}`, `change the list at ${place}`);
  }
  if (!isUsable(record)) {
    return {
      is: false,
      says: 'the server of the tool cannot be used',
      why: formatAnswer(record),
      next: record.next,
    };
  }
  if (live === undefined || record.connection === 'not asked') {
    const says = 'no setting excludes the tool; the server was not contacted to check that it lists the tool';
    return { is: true, says };
  }
  if (isListed) return { is: true, says: 'the server lists the tool, and no setting excludes it' };
  const dropped = live.dropped?.filter((it) => it.server === server.name) ?? [];
  const own = dropped.find(
    (it) => it.tool !== undefined && (it.tool === tool || mcpToolName(server.name, it.tool) === name),
  );
  if (own) {
    const report = "report the invalid tool definition to the server's author";
    return denied(`the server lists the tool, but the definition is invalid: ${own.fault}`, report);
  }
  const rest = dropped.find((it) => it.tool === undefined);
  const unread = rest === undefined ? '' : ` in the part of the list that was read: ${rest.fault}`;
  const next =
    live.suggestion === undefined
      ? `to see the tools of the server: toolplane tools -s ${shellQuote(server.name)}`
      : `toolplane explain tool ${shellArguments(live.suggestion)}`;
  return { ...denied(`the server does not list the tool${unread}`, next), isAbsent: true };
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
  if (name !== mcpToolName(server, tool)) return `shown to models as ${name}`;
  return name === plain
    ? 'shown to models by this name'
    : `shown to models as ${name}: characters other than letters, digits, _ and - become _`;
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
    const offered = { is: removed === undefined, says: removed?.says ?? 'built-in tool' };
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
    offered: { is: false, says: 'no built-in tool and no tool of a configured server has this name' },
    next: [
      ...(server === undefined ? [] : [`toolplane explain server ${shellArguments(server)}`]),
      'to see all tools: toolplane tools',
    ],
  };
}
