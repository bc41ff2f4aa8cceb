import { shellQuote } from '../../base/text/display-text.ts';
import { hashContent } from '../approval/approved-content.ts';
import type { Configuration } from '../configuration.ts';
import { formatDiagnostic } from '../files/diagnostics.ts';
import { managedSource } from '../merge/eligibility.ts';
import type { PolicyDecision } from '../merge/policy.ts';
import type { ConfiguredServer, IgnoredServer, Source, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { validateServerName } from '../sources/validate-entry.ts';
import { timeoutsOf } from './explain-timeout.ts';
import {
  formatLocation,
  type IgnoredRow,
  locationAt,
  locationInSettings,
  locationOf,
  type ServerExplanation,
  type SourceRow,
} from './explanation.ts';
import { maskEntry } from './mask-entry.ts';
import { similarNames } from './resolve-tool.ts';
import {
  describeIgnored,
  formatAnswer,
  isUsable,
  type Observed,
  type ServerRecord,
  serverRecord,
} from './server-record.ts';

/** The full derivation of one server: sources, precedence, references, policy, approval, connection, and what to do. */
export function explainServer(
  configuration: Configuration,
  name: string,
  observed: Observed = {},
): ServerExplanation {
  const record = serverRecord(configuration, name, observed);
  return record.state === 'unknown'
    ? explainUnknown(configuration, name)
    : explainRecord(configuration, record);
}

function explainRecord(configuration: Configuration, record: ServerRecord): ServerExplanation {
  const { name, server, ignored, next, diagnostics, references, expansionErrors, connection, auth } = record;
  const written = server?.written ?? (ignored[0] as IgnoredServer).written;
  const settled = (server?.settled ?? []).map(({ member, label }) => ({
    member,
    at: locationInSettings(configuration.settingsSources, { label }, ['serverSettings', name, member]),
  }));
  return {
    kind: 'server',
    name,
    answer: formatAnswer(record),
    status: isUsable(record) ? 'usable' : 'unusable',
    verdict: server?.verdict.kind ?? 'lost',
    sources: sourceRows(configuration, record),
    ...(server && { winner: locationOf(written) }),
    lost: ignored.map(lossRow),
    entry: maskEntry(written.raw),
    settled,
    expansion: references,
    policy: policyOf(configuration, written),
    approval: approvalOf(configuration, written),
    connection,
    ...(auth && { auth }),
    timeouts: server?.entry ? timeoutsOf(server, configuration) : [],
    faults: [...diagnostics.map(formatDiagnostic), ...expansionErrors],
    next,
  };
}

/** No entry has the name: suggests similar names, and lists files that could not be read and may contain it. */
function explainUnknown(configuration: Configuration, name: string): ServerExplanation {
  const near = similarNames(configuration, name);
  const unread = unreadDiagnostics(configuration);
  const [first] = near;
  const hint =
    first !== undefined
      ? `; did you mean "${first}"?`
      : `${unread.length === 0 ? '' : `; it may be in a file that is invalid or cannot be read: ${unread[0]}`}.`;
  return {
    kind: 'server',
    name,
    answer: Object.hasOwn(configuration.program, name)
      ? `"${name}" is an in-process server of the program and is not configured in a file.`
      : `Unknown server "${name}"${hint}`,
    status: 'unknown',
    verdict: 'unknown',
    sources: sourceRows(configuration, { name, ignored: [] }),
    lost: [],
    settled: [],
    expansion: [],
    policy: { allows: true, says: 'not checked' },
    approval: { isNeeded: false, says: 'not checked' },
    connection: 'not asked',
    timeouts: [],
    faults: unread,
    next: [
      ...near.map((other) => `toolplane explain server ${shellQuote(other)}`),
      ...unread.map((diagnostic) => `fix ${diagnostic}`),
      ...(configuration.flags.scopes
        ? ['run without --setting-sources, which excludes the files of other scopes']
        : []),
      'to see all servers: toolplane mcp list',
      ...(validateServerName(name) === undefined
        ? [`to add this server: toolplane mcp add ${shellQuote(name)} -- <command>`]
        : []),
    ],
  };
}

/** What each source has of the name, the highest precedence first. */
function sourceRows(
  { sources }: Pick<Configuration, 'sources'>,
  record: Pick<ServerRecord, 'name' | 'server' | 'ignored'>,
): SourceRow[] {
  return [...sources].reverse().flatMap((source) => {
    const entries = source.servers.filter((written) => written.name === record.name);
    if (entries.length === 0) return [emptyRow(source)];
    return entries.map((written) => entryRow(source, written, record));
  });
}

function entryRow(
  source: Source,
  written: WrittenServer,
  { server, ignored }: Pick<ServerRecord, 'server' | 'ignored'>,
): SourceRow {
  const common = { ...locationOf(written), state: source.state, ...ownerOf(source) };
  if (server?.written === written) return { ...common, has: 'winner', says: ACTIVE[server.verdict.kind] };
  const entry = ignored.find((it) => it.written === written);
  return { ...common, has: 'lost', says: entry ? describeIgnored(entry) : 'ignored' };
}

/** The state of the entry that has the name. */
const ACTIVE: Readonly<Record<ConfiguredServer['verdict']['kind'], string>> = {
  ready: 'active',
  pending: 'pending your approval',
  rejected: 'you rejected it',
  blocked: 'has precedence, but is forbidden by policy',
  disabled: 'has precedence, but is disabled',
  broken: 'has precedence, but is invalid',
};

function emptyRow(source: Source): SourceRow {
  const position = source.faults.find(({ level }) => level === 'error')?.position;
  const at = locationAt(source.scope, source.label, source.state === 'unusable' ? position : undefined);
  return { ...at, state: source.state, ...ownerOf(source), has: 'nothing', says: EMPTY[source.state] };
}

const EMPTY: Readonly<Record<Source['state'], string>> = {
  read: 'has no entry of this name',
  absent: 'does not exist',
  unusable: 'is invalid or cannot be read, and is ignored',
};

function ownerOf({ owner }: Source): { owner?: string } {
  return owner === undefined ? {} : { owner };
}

function lossRow(ignored: IgnoredServer): IgnoredRow {
  return { ...locationOf(ignored.written), why: ignored.why, says: describeIgnored(ignored) };
}

/** Diagnostics about whole files, which may contain a server that is missing. */
function unreadDiagnostics({ sources, faults }: Pick<Configuration, 'sources' | 'faults'>): string[] {
  const unusable = sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults);
  const ofFiles = faults.filter(
    ({ level, key }) => level === 'error' && (key === undefined || !key.includes('.')),
  );
  return [...new Set([...unusable, ...ofFiles].map(formatDiagnostic))];
}

/** Whether the entry needs a person's approval, and what they decided. */
function approvalOf(
  { approvals: choices, root, context }: Pick<Configuration, 'approvals' | 'root' | 'context'>,
  written: WrittenServer,
): ServerExplanation['approval'] {
  if (written.scope !== 'project' && written.scope !== 'local') {
    return { isNeeded: false, says: `not needed: ${NO_APPROVAL[written.scope]}` };
  }
  const choice = choices.ofServer(written);
  const hash = hashContent(written.raw);
  const common = { isNeeded: true, ...(hash !== undefined && { hash }) };
  const directory = root ?? context.cwd;
  // A rejection of this very entry holds in a trusted repository too.
  if (choice !== 'rejected' && choices.isTrusted(directory)) {
    return { ...common, choice: 'trusted', says: `everything in ${directory} is trusted on this machine` };
  }
  return { ...common, choice, says: APPROVALS[choice] };
}

const NO_APPROVAL: Readonly<Record<Exclude<WrittenServer['scope'], 'project' | 'local'>, string>> = {
  connector: 'the connector is configured in settings',
  plugin: 'the plugin is configured in settings or by a flag',
  user: 'the entry is in your own settings',
  program: 'the entry was passed by a flag or by the program',
  managed: 'the entry is in the managed file of this machine',
};

const APPROVALS = {
  approved: 'this version of the entry was approved on this machine',
  rejected: 'this version of the entry was rejected on this machine',
  new: 'not approved on this machine yet',
  changed: 'the entry changed since it was approved; the new version needs approval',
} as const;

/** What the administrators' policy says about the server. */
function policyOf(
  { policy, settingsSources, sources }: Pick<Configuration, 'policy' | 'settingsSources' | 'sources'>,
  { name, entry, scope, label }: Pick<WrittenServer, 'name' | 'entry' | 'scope' | 'label'>,
): ServerExplanation['policy'] {
  const ruling = managedSource(sources);
  const isOther = ruling !== undefined && (scope !== 'managed' || label !== ruling.label);
  if (isOther) return { allows: false, says: `only servers in ${ruling.label} are started` };
  const judged = entry && policy.judge(name, entry);
  if (judged?.kind === 'forbidden')
    return { allows: false, says: `forbidden by ${ruleText(judged, settingsSources)}` };
  if (judged?.kind === 'undecided')
    return {
      allows: true,
      says: 'depends on the values of variables in the entry; checked again when the server is started',
    };
  const managed = settingsSources.filter((it) => it.scope === 'managed');
  const lists = managed.filter(({ value }) => value.allowedMcpServers !== undefined);
  if (lists.length > 0)
    return {
      allows: true,
      says: `allowed by allowedMcpServers of ${lists.map((it) => it.label).join(', ')}`,
    };
  if (managed.some(({ value }) => value.deniedMcpServers !== undefined))
    return { allows: true, says: 'no managed rule forbids the server' };
  return { allows: true, says: ruling ? `the entry is in ${ruling.label}` : 'none' };
}

/** The rule with its place and content, if it is a row of a list. */
function ruleText(
  { rule, row }: Extract<PolicyDecision, { kind: 'forbidden' }>,
  sources: readonly SettingsSource[],
): string {
  const source = row && sources.find((it) => it.scope === 'managed' && it.label === row.label);
  if (row === undefined || source === undefined) return rule;
  const { key, index } = row;
  const at = locationAt(source.scope, source.label, source.locate([key, index]));
  return `${key}[${index}] at ${formatLocation(at)}: ${JSON.stringify((source.value[key] as unknown[])[index])}`;
}
