import { shellQuote } from '../../base/text/display-text.ts';
import type { AuthStatus } from '../../mcp/auth/auth-types.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import type { Configuration } from '../configuration.ts';
import { expandEntry, type Lookup, type Reference, withSettingsEnv } from '../expand/expand-entry.ts';
import { formatDiagnostic, formatKeyPath } from '../files/diagnostics.ts';
import { managedSource } from '../merge/eligibility.ts';
import { isProgramServer } from '../merge/merge-servers.ts';
import type { ConfigDiagnostic, ConfiguredServer, IgnoredServer, Verdict, WrittenServer } from '../model.ts';
import { type ConnectionRow, formatLocation, locationOf, type ReferenceRow } from './explanation.ts';
import { nextSteps, stepsForIgnored } from './next-steps.ts';

/** What is known about a server besides the configuration files. */
export type Observed = {
  /** Resolves `${…}`; without it references are not checked. */
  readonly lookup?: Lookup;
  /** Result of connecting; without it the server was not contacted. */
  readonly status?: ServerStatus;
  /** How the server is authorized, as far as the stored accounts tell. */
  readonly auth?: AuthStatus;
};

/**
 * Everything that is known about one server name: where its entry comes from, which entries it shadows, whether it is
 * active or ignored and why, its problems, and what to do. `explain`, `doctor`, `list`, `get` and the start-up messages
 * are views of it.
 */
export type ServerRecord = {
  readonly name: string;
  /** The entry that has the name; undefined if every entry of the name is ignored, or there is none. */
  readonly server?: ConfiguredServer;
  /** Entries of the name that are ignored, the highest precedence first. */
  readonly ignored: readonly IgnoredServer[];
  /** `ready`: may be started and was not contacted. `failed`: it cannot be started, or connecting to it failed. */
  readonly state: Verdict['kind'] | 'connected' | 'failed' | 'ignored' | 'unknown';
  /** Why the server is in this state, without its name and without a period; empty if it is usable or unknown. */
  readonly reason: string;
  /** What to do, the most likely step first: a command or an edit each. */
  readonly next: readonly string[];
  /** Diagnostics about the entries and the settings of the name. */
  readonly diagnostics: readonly ConfigDiagnostic[];
  /** The references of the entry, without their values. */
  readonly references: readonly ReferenceRow[];
  /** Why the entry cannot be used once its references are resolved. */
  readonly expansionErrors: readonly string[];
  readonly connection: ConnectionRow | 'not asked';
  /** How a remote server is authorized. */
  readonly auth?: AuthStatus;
};

/** The record of one name. */
export function serverRecord(
  configuration: Configuration,
  name: string,
  observed: Observed = {},
): ServerRecord {
  const server = configuration.merged.servers.find((it) => it.name === name);
  if (server) return activeRecord(configuration, server, observed);
  const ignored = configuration.merged.lost.filter(({ written }) => written.name === name);
  return ignoredRecord(configuration, name, ignored);
}

function activeRecord(
  configuration: Configuration,
  server: ConfiguredServer,
  { lookup, status, auth }: Observed,
): ServerRecord {
  const { name } = server;
  const { references, expansionErrors } = expansionOf(server, configuration, lookup);
  const connection = status ? connectionOf(status) : 'not asked';
  const missing = references.filter(({ from }) => from === 'missing');
  return {
    name,
    server,
    ignored: server.lost,
    state: stateOf(server.verdict, expansionErrors, connection),
    reason: reasonOf(server, expansionErrors, connection),
    next: nextSteps({ configuration, server, missing, connection }),
    diagnostics: diagnosticsOf(configuration, name),
    references,
    expansionErrors,
    connection,
    ...(auth && { auth }),
  };
}

/** The record of a name that only ignored entries have, or none. */
export function ignoredRecord(
  configuration: Pick<Configuration, 'sources' | 'faults'>,
  name: string,
  ignored: readonly IgnoredServer[],
): ServerRecord {
  const managed = managedSource(configuration.sources)?.label;
  const [first] = ignored;
  return {
    name,
    ignored,
    state: first ? 'ignored' : 'unknown',
    reason: first ? ignoredReason(first, managed) : '',
    next: stepsForIgnored(ignored, managed),
    diagnostics: diagnosticsOf(configuration, name),
    references: [],
    expansionErrors: [],
    connection: 'not asked',
  };
}

/**
 * The records that a list shows, in the order of names: every server that has a name, and entries of the project that
 * are pending or rejected while another entry has their name.
 */
export function listedRecords(
  configuration: Configuration,
  observe: (name: string) => Observed,
): (ServerRecord & { readonly server: ConfiguredServer })[] {
  const active = configuration.merged.servers.map((server) => ({
    ...activeRecord(configuration, server, observe(server.name)),
    server,
  }));
  const undecided = ignoredEntries(configuration).flatMap(({ written, why, winner }) => {
    if (why !== 'pending' && why !== 'rejected') return [];
    const choice = configuration.approvals.ofServer(written) === 'changed' ? 'changed' : 'new';
    const verdict: Verdict = why === 'pending' ? { kind: why, choice } : { kind: why };
    const server = { name: written.name, written, verdict, settled: [], lost: [] };
    const ignored = winner ? [{ written, why, winner }] : [];
    return [{ ...activeRecord(configuration, server, {}), server, ignored }];
  });
  return [...active, ...undecided].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Every name that is configured, in the order of names. */
export function serverNames({ merged }: Pick<Configuration, 'merged'>): string[] {
  const names = [...merged.servers.map((it) => it.name), ...merged.lost.map((it) => it.written.name)];
  return [...new Set(names)].sort();
}

/** Every entry that is ignored. */
export function ignoredEntries({ merged }: Pick<Configuration, 'merged'>): IgnoredServer[] {
  return [...merged.servers.flatMap(({ lost }) => lost), ...merged.lost];
}

/** Whether the server can be used as far as is known. */
export function isUsable({ state }: Pick<ServerRecord, 'state'>): boolean {
  return state === 'ready' || state === 'connected';
}

/** Whether the server needs a fix. Pending, rejected and disabled servers wait for a decision of the user instead. */
export function isFailing({ state }: Pick<ServerRecord, 'state'>): boolean {
  return state === 'failed' || state === 'blocked' || state === 'broken';
}

/** State and reason in a few words, as lists of servers show them, such as `pending approval: toolplane mcp approve docs`. */
export function shortStatus({
  name,
  server,
  ignored,
  state,
  reason,
  next,
  connection,
}: ServerRecord): string {
  const approve = `toolplane mcp approve ${shellQuote(name)}`;
  const instead = ignored.find(({ written }) => written === server?.written)?.winner;
  const active = instead ? ` (until then, ${entryPlace(instead)} is active)` : '';
  switch (state) {
    case 'connected': {
      const { tools = 0 } = connection as ConnectionRow;
      return `connected (${tools} ${tools === 1 ? 'tool' : 'tools'})`;
    }
    case 'pending': {
      const isChanged = server?.verdict.kind === 'pending' && server.verdict.choice === 'changed';
      return `${isChanged ? 'changed since you approved it' : 'pending approval'}: ${approve}${active}`;
    }
    case 'rejected':
      return `rejected; to undo: ${approve}${active}`;
    case 'failed':
      return `${connection === 'not asked' ? 'cannot be started' : 'failed'}: ${reason}`;
    case 'blocked':
    case 'broken':
      return `${state}: ${reason}`;
    case 'ignored':
      return [`ignored: ${reason}`, ...next.slice(0, 1)].join('; ');
    case 'disabled':
      return reason;
    case 'ready':
    case 'unknown':
      return state;
  }
}

/** One sentence with the server's name: what it is now and why. */
export function formatAnswer(record: ServerRecord): string {
  const { name, server, state, reason, ignored } = record;
  if (state === 'unknown') return `Unknown server "${name}".`;
  if (state === 'ignored') return `"${name}" in ${ignoredPlace(record)} is ignored: ${reason}.`;
  if (!isUsable(record)) {
    const outcome = outcomeOf(record);
    return `"${name}" ${outcome.startsWith('not ') ? 'is ' : ''}${outcome}: ${reason}.`;
  }
  const count = ignored.filter(({ why }) => why === 'shadowed').length;
  const shadows =
    count === 0 ? '' : `, which shadows ${count === 1 ? 'one other entry' : `${count} other entries`}`;
  const pending = ignored
    .filter(({ why }) => why === 'pending')
    .map((it) => formatLocation(locationOf(it.written)));
  const waiting =
    pending.length === 0
      ? ''
      : `; ${pending.join(', ')} ${pending.length === 1 ? 'is' : 'are'} pending your approval`;
  const place = server ? entryPlace(server.written) : '';
  return `"${name}" is ${state === 'ready' ? 'ready to start' : 'connected'}, from ${place}${shadows}${waiting}.`;
}

/** Answer and first step, in one line. */
export function formatSummary(record: ServerRecord): string {
  return withFirstStep(formatAnswer(record).replace(/\.$/, ''), record);
}

/** The same without the server's name; undefined if nothing keeps the server from being started, or there is none. */
export function formatReason(record: ServerRecord): string | undefined {
  const { state, reason } = record;
  if (isUsable(record) || state === 'unknown') return undefined;
  if (state === 'ignored')
    return withFirstStep(`its entry in ${ignoredPlace(record)} is ignored: ${reason}`, record);
  return withFirstStep(`${outcomeOf(record)}: ${reason}`, record);
}

function outcomeOf({ state, connection }: ServerRecord): string {
  if (state === 'broken') return 'cannot be used';
  if (state !== 'failed') return 'not started';
  return connection === 'not asked' ? 'cannot be started' : 'not connected';
}

function ignoredPlace({ ignored: [first] }: ServerRecord): string {
  return first ? entryPlace(first.written) : '';
}

function withFirstStep(text: string, { next }: ServerRecord): string {
  return [text, ...next.slice(0, 1)].join('; ');
}

function stateOf(
  { kind }: Verdict,
  expansionErrors: readonly string[],
  connection: ConnectionRow | 'not asked',
): ServerRecord['state'] {
  if (kind !== 'ready') return kind;
  if (expansionErrors.length > 0) return 'failed';
  if (connection === 'not asked') return 'ready';
  return connection.state === 'connected' ? 'connected' : 'failed';
}

function reasonOf(
  { written, verdict }: ConfiguredServer,
  expansionErrors: readonly string[],
  connection: ConnectionRow | 'not asked',
): string {
  const place = entryPlace(written);
  switch (verdict.kind) {
    case 'pending':
      return verdict.choice === 'changed'
        ? `${place} changed since you approved it`
        : `${place} comes with the project and is not approved yet`;
    case 'rejected':
      return `you rejected ${place}`;
    case 'blocked':
      return `${verdict.rule} forbids it`;
    case 'disabled':
      return `disabled in ${verdict.label}`;
    case 'broken':
      return formatDiagnostic(verdict.fault);
    case 'ready':
      break;
  }
  if (expansionErrors.length > 0) return expansionErrors.join('; ');
  if (connection === 'not asked' || connection.state === 'connected') return '';
  return connection.lastError ?? connection.state;
}

/** Why an entry is ignored, for a name that no active entry has. */
function ignoredReason(entry: IgnoredServer, managed: string | undefined): string {
  const { why, winner } = entry;
  if (why === 'managed') return `${managed ?? 'the managed file of this machine'} excludes all other files`;
  if (why === 'duplicate' && winner)
    return `"${winner.name}" in ${entryPlace(winner)} connects to the same server`;
  return describeIgnored(entry);
}

/** Why an entry is ignored, without its place. */
export function describeIgnored({ written, why, winner }: IgnoredServer): string {
  const active = winner ? `, so ${placeBeside(winner, written)} is active` : '';
  switch (why) {
    case 'shadowed':
      return winner
        ? `shadowed by ${placeBeside(winner, written)}`
        : 'shadowed by an entry of higher precedence';
    case 'pending':
      return `pending your approval${active}`;
    case 'rejected':
      return `you rejected it${active}`;
    case 'duplicate':
      return winner
        ? `connects to the same server as "${winner.name}" (${winner.scope})`
        : 'another entry connects to the same server';
    case 'same-name':
      return winner
        ? `its name and "${winner.name}" ${isProgramServer(winner) ? 'in' : 'at'} ${formatLocation(locationOf(winner))} normalize to the same identifier`
        : 'its name and that of another server normalize to the same identifier';
    case 'left-out':
      return 'excluded by --strict-mcp-config or --setting-sources';
    case 'managed':
      return 'excluded by the managed file';
  }
}

function placeBeside(winner: WrittenServer, loser: WrittenServer): string {
  if (isProgramServer(winner)) return `the server of this name in ${winner.label}`;
  const owner = winner.owner === undefined ? '' : ` "${winner.owner}"`;
  const isSamePlace = winner.label === loser.label && winner.scope === loser.scope;
  return isSamePlace ? `the entry at ${formatLocation(locationOf(winner))}` : `${winner.scope}${owner}`;
}

function entryPlace(written: WrittenServer): string {
  return `${formatLocation(locationOf(written))} (${written.scope})`;
}

/** Diagnostics about entries and settings of the name, each text once. */
function diagnosticsOf({ faults }: Pick<Configuration, 'faults'>, name: string): ConfigDiagnostic[] {
  const keys = ['mcpServers', 'serverSettings'].map((map) => formatKeyPath([map, name]));
  const isAbout = (key = '') =>
    keys.some((own) => key === own || key.startsWith(`${own}.`) || key.startsWith(`${own}[`));
  const own = faults.filter(({ key }) => isAbout(key));
  return [...new Map(own.map((it) => [formatDiagnostic(it), it])).values()];
}

/** The references of an entry, without their values, and why the entry cannot be used once they are resolved. */
function expansionOf(
  { name, written, entry }: ConfiguredServer,
  configuration: Pick<Configuration, 'policy' | 'settings' | 'settingsSources' | 'context'>,
  lookup: Lookup | undefined,
): Pick<ServerRecord, 'references' | 'expansionErrors'> {
  // Entries of connectors are taken literally.
  if (lookup === undefined || entry === undefined || written.scope === 'connector')
    return { references: [], expansionErrors: [] };
  const expanded = expandEntry(entry, lookup);
  const references = expanded.uses.map(({ where, from, ...use }) => ({
    where,
    reference: referenceOf(use),
    from,
  }));
  if (expanded.kind === 'faulty') return { references, expansionErrors: expanded.faults };
  const { policy } = configuration;
  const isBlocked = policy.judge(name, entry).kind === 'forbidden';
  const rule = isBlocked ? undefined : policy.forbids(name, withSettingsEnv(expanded.entry, configuration));
  const expansionErrors =
    rule === undefined
      ? []
      : [
          `with the values of its variables, the entry is forbidden by ${rule}; check the variables, or ask your administrator`,
        ];
  return { references, expansionErrors };
}

function referenceOf({ kind, name }: Pick<Reference, 'kind' | 'name'>): string {
  return kind === 'secret' ? `\${secret:${name}}` : `\${${name}}`;
}

/** The result of connecting. */
function connectionOf(status: ServerStatus): ConnectionRow {
  const { state, cause, era, protocolVersion, serverInfo, tools, stderr } = status;
  return {
    state,
    ...(cause && { code: cause.code, lastError: cause.detail }),
    ...(cause?.missingVariable && { missingVariable: cause.missingVariable }),
    ...(cause?.stage && { stage: cause.stage }),
    ...(era && { era }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(serverInfo && { serverInfo }),
    ...(tools !== undefined && { tools }),
    ...(state !== 'connected' && stderr.length > 0 && { stderr }),
  };
}
