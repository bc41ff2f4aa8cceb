import { shellWord, shellWords } from '../../../base/shell-word.ts';
import type { ToolAnnotations } from '../../../protocol/mcp.ts';
import { mcpToolName } from '../../../protocol/tool-name.ts';
import { isChosen } from '../../discover/choose-tools.ts';
import type { Rule } from '../../permission/rule.ts';
import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer } from '../model.ts';
import type { CallFacts } from './call-facts.ts';
import { explainPermission } from './explain-permission.ts';
import { type Beside, explainServer } from './explain-server.ts';
import { nearNames } from './explain-unknown.ts';
import type { PermissionExplanation, ServerExplanation, ToolExplanation } from './explanation.ts';
import { limitsOf } from './limits.ts';
import { type LiveTool, resolveTool } from './resolve-tool.ts';
import { standInSettings, standOf, standText } from './stand.ts';

/** What the servers that were asked said. */
export type LiveTools = {
  readonly tools: readonly (LiveTool & {
    readonly tokens: number;
    readonly annotations?: ToolAnnotations;
    readonly changed?: string;
    /** Why it is not known by `mcp__<server>__<tool>`. */
    readonly renamed?: string;
    readonly deferred: { readonly is: boolean; readonly says: string };
  })[];
  readonly builtIns: readonly string[];
  /** The name that was most likely meant. */
  readonly meant?: string;
};

/** One tool: its server, whether it is offered and why, what it costs, and whether it may run. */
export function explainTool(
  configuration: Configuration,
  name: string,
  {
    live,
    rules = [],
    ...beside
  }: Beside & { readonly live?: LiveTools; readonly rules?: readonly Rule[] } = {},
): ToolExplanation {
  const ref = resolveTool(configuration, name, live?.tools);
  const found = live?.tools.find((it) => it.server === ref.server && it.tool === ref.tool);
  const facts: CallFacts = {
    ref,
    rules,
    isBuiltIn: live?.builtIns.includes(name) === true,
    isAsked: found !== undefined,
    ...(found?.annotations && { annotations: found.annotations }),
    ...(found?.changed !== undefined && { changed: found.changed }),
  };
  if (ref.server === undefined) return withoutServer(configuration, name, facts, live);
  const server = configuration.merged.servers.find((it) => it.name === ref.server) as ConfiguredServer;
  const its = explainServer(configuration, server.name, beside);
  const offered = offeredOf(configuration, server, ref.tool ?? '', { its, found: found !== undefined, live });
  const permission = explainPermission(configuration, ref.name, facts);
  const isKnown = !offered.isAbsent;
  const told = { is: offered.is, says: offered.says };
  return {
    kind: 'tool',
    name,
    answer: answerOf(ref.name, offered, permission),
    standing: !isKnown ? 'unknown' : told.is && permission.decision !== 'deny' ? 'usable' : 'unusable',
    server: server.name,
    tool: ref.tool ?? '',
    pooledName: ref.name,
    naming: found?.renamed ?? namingOf(server.name, ref.tool ?? '', ref.name),
    offered: told,
    ...(found && { deferred: found.deferred, tokens: found.tokens }),
    ...(found?.changed !== undefined && { changed: found.changed }),
    connection: its.connection,
    permission,
    timeouts: server.entry ? limitsOf(server, configuration, ref.tool) : [],
    next: nextOf(offered, permission, { its, server, meant: isKnown ? undefined : live?.meant }),
  };
}

type Offered = ToolExplanation['offered'] & {
  /** The server was asked and has no such tool. */
  readonly isAbsent?: boolean;
  /** What leaves it out. */
  readonly choice?: string;
  /** What is wrong with its server. */
  readonly why?: string;
};

function offeredOf(
  configuration: Configuration,
  server: ConfiguredServer,
  tool: string,
  { its, found, live }: { its: ServerExplanation; found: boolean; live: LiveTools | undefined },
): Offered {
  const member = leavingOut(server, tool);
  if (member !== undefined) {
    const by = server.settled.find((it) => it.member === member);
    const at = by
      ? standInSettings(configuration.settingsSources, by, ['serverSettings', server.name, member])
      : standOf(server.written);
    return { is: false, says: `"${member}" at ${standText(at)} leaves it out`, choice: standText(at) };
  }
  if (its.standing !== 'usable') return { is: false, says: 'its server cannot be used', why: its.answer };
  if (live === undefined || its.connection === 'not asked') {
    return { is: true, says: 'nothing leaves it out; the server was not asked whether it has it' };
  }
  if (found) return { is: true, says: 'its server lists it and nothing leaves it out' };
  return { is: false, says: `its server does not list it`, isAbsent: true };
}

/** Which list of the entry keeps the tool from being offered. */
function leavingOut({ entry }: ConfiguredServer, tool: string): 'includeTools' | 'excludeTools' | undefined {
  if (!entry) return undefined;
  const { includeTools, excludeTools } = entry;
  if (excludeTools && !isChosen(tool, { excludeTools })) return 'excludeTools';
  return includeTools && !isChosen(tool, { includeTools }) ? 'includeTools' : undefined;
}

function namingOf(server: string, tool: string, name: string): string {
  const plain = `mcp__${server}__${tool}`;
  if (name !== mcpToolName(server, tool)) return `models know it as ${name}`;
  return name === plain
    ? 'models know it by this name'
    : `models know it as ${name}: signs other than letters, digits, _ and - become _`;
}

/** A built-in, or nothing that is known. */
function withoutServer(
  configuration: Configuration,
  name: string,
  facts: CallFacts,
  live: LiveTools | undefined,
): ToolExplanation {
  const permission = explainPermission(configuration, name, facts);
  const common = { kind: 'tool', name, connection: 'not asked', timeouts: [] } as const;
  if (facts.isBuiltIn) {
    const offered = { is: true, says: 'it is built in' };
    return {
      ...common,
      answer: answerOf(name, offered, permission),
      standing: permission.decision === 'deny' ? 'unusable' : 'usable',
      offered,
      permission,
      next: permission.next,
    };
  }
  const server = /^mcp__(.+?)(?:__|$)/.exec(name)?.[1];
  const meant = live?.meant ?? (server === undefined ? undefined : nearNames(configuration, server)[0]);
  return {
    ...common,
    answer: `There is no tool "${name}" here${meant === undefined ? '.' : `; did you mean "${meant}"?`}`,
    standing: 'unknown',
    offered: { is: false, says: 'no server of that name is configured' },
    next: [
      ...(server === undefined ? [] : [`toolplane explain server ${shellWords(server)}`]),
      'see all: toolplane tools',
    ],
  };
}

function answerOf(name: string, offered: Offered, permission: PermissionExplanation): string {
  if (offered.is) return permission.answer;
  return `${name} is not offered: ${offered.why ?? `${offered.says}.`}`;
}

function nextOf(
  offered: Offered,
  permission: PermissionExplanation,
  { its, server, meant }: { its: ServerExplanation; server: ConfiguredServer; meant: string | undefined },
): string[] {
  if (offered.choice !== undefined) return [`change the list at ${offered.choice}`];
  if (meant !== undefined) return [`toolplane explain tool ${shellWords(meant)}`];
  if (its.standing !== 'usable') return [...its.next];
  if (!offered.is) return [`see what it has: toolplane tools -s ${shellWord(server.name)}`];
  return [...permission.next];
}
