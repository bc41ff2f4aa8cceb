import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { Configuration } from '../configuration.ts';
import type { Lookup } from '../expand/expand-entry.ts';
import { faultText } from '../fault-text.ts';
import type { ConfiguredServer, LostServer } from '../model.ts';
import { keyText } from '../sources/key-text.ts';
import { answerOf, answerOfLost } from './answer.ts';
import { approvalOf } from './approval.ts';
import { expansionOf } from './expansion.ts';
import { explainUnknown } from './explain-unknown.ts';
import type { ConnectionRow, LossRow, ServerExplanation } from './explanation.ts';
import { limitsOf } from './limits.ts';
import { lossText } from './loss-text.ts';
import { maskEntry } from './mask-entry.ts';
import { nextSteps, stepsForLost } from './next-steps.ts';
import { policyOf } from './policy-text.ts';
import { sourceRows } from './source-rows.ts';
import { standInSettings, standOf, standText } from './stand.ts';

/** What is known beside the files. */
export type Beside = {
  /** Who knows what `${…}` stands for; without it nobody looks. */
  readonly lookup?: Lookup;
  /** What came of a dial; without it nobody was asked. */
  readonly status?: ServerStatus;
};

/** Everything that makes one name what it is: sources, precedence, expansion, policy, approval, connection, what to do. */
export function explainServer(
  configuration: Configuration,
  name: string,
  beside: Beside = {},
): ServerExplanation {
  const server = configuration.merged.servers.find((it) => it.name === name);
  if (server) return explainConfigured(configuration, server, beside);
  const lost = configuration.merged.lost.filter(({ written }) => written.name === name);
  return lost.length > 0 ? explainLost(configuration, name, lost) : explainUnknown(configuration, name);
}

function explainConfigured(
  configuration: Configuration,
  server: ConfiguredServer,
  { lookup, status }: Beside,
): ServerExplanation {
  const { name, written, verdict, lost } = server;
  const { uses, faults } = expansionOf(server, configuration, lookup);
  const missing = uses.filter(({ from }) => from === 'missing');
  const connection = status ? connectionOf(name, status) : 'not asked';
  const settled = server.settled.map(({ member, label }) => ({
    member,
    at: standInSettings(configuration.settingsSources, { label }, ['serverSettings', name, member]),
  }));
  const off =
    verdict.kind === 'disabled'
      ? standInSettings(configuration.settingsSources, verdict, ['serverSettings', name, 'disabled'])
      : undefined;
  const isUsable =
    verdict.kind === 'ready' &&
    missing.length === 0 &&
    faults.length === 0 &&
    (connection === 'not asked' || connection.state === 'connected');
  return {
    kind: 'server',
    name,
    answer: answerOf({ server, faults, connection }),
    standing: isUsable ? 'usable' : 'unusable',
    verdict: verdict.kind,
    sources: sourceRows(configuration, name, { winner: server, lost }),
    winner: standOf(written),
    lost: lost.map(lossRow),
    entry: maskEntry(written.raw),
    settled,
    expansion: uses,
    policy: policyOf(configuration, written),
    approval: approvalOf(configuration, written),
    connection,
    timeouts: server.entry ? limitsOf(server, configuration) : [],
    faults: [...faultsOf(configuration, name), ...faults],
    next: nextSteps({
      configuration,
      server,
      missing,
      connection,
      ...(off && { disabledAt: standText(off) }),
    }),
  };
}

/** Somebody wrote the name, and nothing has it, or something else than was meant. */
export function explainLost(
  configuration: Configuration,
  name: string,
  lost: readonly LostServer[],
): ServerExplanation {
  const first = lost[0] as LostServer;
  const managed = configuration.sources.find((it) => it.scope === 'managed' && it.state !== 'absent')?.label;
  return {
    kind: 'server',
    name,
    answer: answerOfLost(name, first, managed),
    standing: 'unusable',
    verdict: 'lost',
    sources: sourceRows(configuration, name, { lost }),
    lost: lost.map(lossRow),
    entry: maskEntry(first.written.raw),
    settled: [],
    expansion: [],
    policy: policyOf(configuration, first.written),
    approval: approvalOf(configuration, first.written),
    connection: 'not asked',
    timeouts: [],
    faults: faultsOf(configuration, name),
    next: stepsForLost(lost, managed),
  };
}

function lossRow(lost: LostServer): LossRow {
  return { ...standOf(lost.written), why: lost.why, says: lossText(lost) };
}

/** What is wrong where the name is written. */
function faultsOf({ faults }: Configuration, name: string): string[] {
  const ways = ['mcpServers', 'serverSettings'].map((map) => keyText([map, name]));
  const isAbout = (key = '') =>
    ways.some((way) => key === way || key.startsWith(`${way}.`) || key.startsWith(`${way}[`));
  return [...new Set(faults.filter(({ key }) => isAbout(key)).map(faultText))];
}

/** What the dial came to, for people: the message without the name that stands above it. */
export function connectionOf(name: string, status: ServerStatus): ConnectionRow {
  const { state, cause, era, protocolVersion, serverInfo, tools, stderr } = status;
  return {
    state,
    ...(cause && { code: cause.code, lastError: cause.message.replace(`MCP server "${name}": `, '') }),
    ...(cause?.missingVariable && { missingVariable: cause.missingVariable }),
    ...(era && { era }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(serverInfo && { serverInfo }),
    ...(tools !== undefined && { tools }),
    ...(state !== 'connected' && stderr.length > 0 && { stderr }),
  };
}
