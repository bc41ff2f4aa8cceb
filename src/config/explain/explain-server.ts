import { shellWord } from '../../base/text/display-text.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import { hashEntry } from '../approval/approved-content.ts';
import type { Configuration } from '../configuration.ts';
import { expandEntry, type Lookup, type Use, withSettingsEnv } from '../expand/expand-entry.ts';
import { faultText, keyText } from '../files/diagnostics.ts';
import { rulingSource } from '../merge/eligibility.ts';
import type { ConfiguredServer, LostServer, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/source-types.ts';
import { nameFault } from '../sources/validate-entry.ts';
import { answerOf, answerOfLost, lossText, sourceRows } from './entry-status.ts';
import { limitsOf } from './explain-timeout.ts';
import {
  type ConnectionRow,
  type LossRow,
  type ServerExplanation,
  standAt,
  standInSettings,
  standOf,
  standText,
  type UseRow,
} from './explanation.ts';
import { maskEntry } from './mask-entry.ts';
import { nextSteps, stepsForLost } from './next-steps.ts';
import { nearNames } from './resolve-tool.ts';

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
  const connection = status ? connectionOf(status) : 'not asked';
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
function connectionOf(status: ServerStatus): ConnectionRow {
  const { state, cause, era, protocolVersion, serverInfo, tools, stderr } = status;
  return {
    state,
    ...(cause && { code: cause.code, lastError: cause.detail }),
    ...(cause?.missingVariable && { missingVariable: cause.missingVariable }),
    ...(era && { era }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(serverInfo && { serverInfo }),
    ...(tools !== undefined && { tools }),
    ...(state !== 'connected' && stderr.length > 0 && { stderr }),
  };
}

/** Nobody wrote the name where it was looked for: what may be meant, and which file may hide it. */
function explainUnknown(configuration: Configuration, name: string): ServerExplanation {
  const near = nearNames(configuration, name);
  const hiding = hidingFaults(configuration);
  const [first] = near;
  const guess = first === undefined ? '' : `; did you mean "${first}"?`;
  const hidden = hiding.length === 0 ? '' : `; it may stand in what cannot be read: ${hiding[0]}`;
  return {
    kind: 'server',
    name,
    answer: Object.hasOwn(configuration.program, name)
      ? `"${name}" is a server in the program itself, and stands in no file.`
      : `There is no server "${name}" here${first === undefined ? hidden : guess}${first === undefined ? '.' : ''}`,
    standing: 'unknown',
    verdict: 'unknown',
    sources: sourceRows(configuration, name, { lost: [] }),
    lost: [],
    settled: [],
    expansion: [],
    policy: { allows: true, says: 'nobody asked' },
    approval: { isNeeded: false, says: 'nobody asked' },
    connection: 'not asked',
    timeouts: [],
    faults: hiding,
    next: [
      ...near.map((other) => `toolplane explain server ${shellWord(other)}`),
      ...hiding.map((fault) => `mend ${fault}`),
      ...(configuration.wanted.scopes ? [UNREAD] : []),
      'see all: toolplane mcp list',
      ...(nameFault(name) === undefined ? [`add it: toolplane mcp add ${shellWord(name)} -- <command>`] : []),
    ],
  };
}

const UNREAD = 'look without --setting-sources, which leaves the files of other scopes unread';

/** What is wrong with whole files: a server may stand in what could not be read. */
function hidingFaults({ sources, faults }: Pick<Configuration, 'sources' | 'faults'>): string[] {
  const unusable = sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults);
  const ofFiles = faults.filter(
    ({ level, key }) => level === 'error' && (key === undefined || !key.includes('.')),
  );
  return [...new Set([...unusable, ...ofFiles].map(faultText))];
}

/** What `${…}` of an entry becomes, without any value, and why it cannot be used then. */
type Expansion = { readonly uses: readonly UseRow[]; readonly faults: readonly string[] };

/** What an entry leads to once it is expanded must be allowed, too; what comes from the network is taken as it is written. */
export function expansionOf(
  { name, written, entry }: ConfiguredServer,
  configuration: Pick<Configuration, 'policy' | 'settings' | 'settingsSources' | 'world'>,
  lookup: Lookup | undefined,
): Expansion {
  if (lookup === undefined || entry === undefined || written.scope === 'connector') return NOTHING;
  const expanded = expandEntry(entry, lookup);
  const uses = expanded.uses.map(({ where, from, ...use }) => ({
    where,
    reference: referenceOf(use),
    from,
  }));
  if (expanded.kind === 'faulty') return { uses, faults: expanded.faults };
  const { policy } = configuration;
  const rule = policy.forbids(name, withSettingsEnv(expanded.entry, configuration));
  const isToldElsewhere = policy.judge(name, entry).kind === 'forbidden';
  if (rule === undefined || isToldElsewhere) return { uses, faults: [] };
  return { uses, faults: [`what it leads to is forbidden by ${rule}`] };
}

const NOTHING: Expansion = { uses: [], faults: [] };

function referenceOf({ kind, name }: Pick<Use, 'kind' | 'name'>): string {
  return kind === 'secret' ? `\${secret:${name}}` : `\${${name}}`;
}

type Approval = ServerExplanation['approval'];

/** Whether a person has to approve the entry, and what they said. */
function approvalOf(
  { choices, root, world }: Pick<Configuration, 'choices' | 'root' | 'world'>,
  written: WrittenServer,
): Approval {
  if (written.scope !== 'project' && written.scope !== 'local') {
    return { isNeeded: false, says: `not needed: ${WHY_NOT[written.scope]}` };
  }
  const choice = choices.ofServer(written);
  const hash = hashEntry(written.raw);
  const common = { isNeeded: true, ...(hash !== undefined && { hash }) };
  const directory = root ?? world.cwd;
  // Who rejected this very entry means it, also in a repository they trust.
  if (choice !== 'rejected' && choices.isTrusted(directory)) {
    return { ...common, choice: 'trusted', says: `everything in ${directory} is trusted on this machine` };
  }
  return { ...common, choice, says: SAID[choice] };
}

const WHY_NOT: Readonly<Record<Exclude<WrittenServer['scope'], 'project' | 'local'>, string>> = {
  connector: 'a person named the catalogue in settings',
  plugin: 'a person named the plugin',
  user: 'it is in your own settings',
  program: 'it was given with the command',
  managed: 'it is in the managed file of this machine',
};

const SAID = {
  approved: 'this content was approved on this machine',
  rejected: 'this content was rejected on this machine',
  new: 'nobody on this machine has approved it yet',
  changed: 'it was approved, and has changed since; what it says now has to be approved anew',
} as const;

/** What those who run the machine say about the server. */
function policyOf(
  { policy, settingsSources, sources }: Pick<Configuration, 'policy' | 'settingsSources' | 'sources'>,
  { name, entry, scope, label }: Pick<WrittenServer, 'name' | 'entry' | 'scope' | 'label'>,
): ServerExplanation['policy'] {
  const ruling = rulingSource(sources);
  const isOther = ruling !== undefined && (scope !== 'managed' || label !== ruling.label);
  if (isOther) return { allows: false, says: `only servers of ${ruling.label} are started` };
  const judged = entry && policy.judge(name, entry);
  if (judged?.kind === 'forbidden')
    return { allows: false, says: `forbidden by ${rowText(judged.rule, settingsSources)}` };
  if (judged?.kind === 'undecided') {
    return { allows: true, says: 'it depends on what is put in; asked again when it is started' };
  }
  const lists = settingsSources.filter(
    ({ scope, value }) => scope === 'managed' && value.allowedMcpServers !== undefined,
  );
  if (lists.length > 0) {
    return { allows: true, says: `allowedMcpServers of ${lists.map((it) => it.label).join(', ')} names it` };
  }
  const isRuled = settingsSources.some(
    ({ scope, value }) => scope === 'managed' && value.deniedMcpServers !== undefined,
  );
  if (isRuled) return { allows: true, says: 'no rule of this machine forbids it' };
  return {
    allows: true,
    says: ruling ? `it is one of ${ruling.label}` : 'there is none on this machine',
  };
}

/** The rule with its place and what it says, where it is a row of a list. */
function rowText(rule: string, sources: readonly SettingsSource[]): string {
  const [, key = '', index = '', label] = /^(\w+)\[(\d+)\] of (.*)$/s.exec(rule) ?? [];
  const source = sources.find((it) => it.scope === 'managed' && it.label === label);
  const list: unknown = source?.value[key];
  if (source === undefined || !Array.isArray(list)) return rule;
  const at = standAt(source.scope, source.label, source.locate([key, Number(index)]));
  return `${key}[${index}] at ${standText(at)}: ${JSON.stringify(list[Number(index)])}`;
}

/** What a server is and what to do about it, in one line. */
export function inOneLine({ answer, next }: Pick<ServerExplanation, 'answer' | 'next'>): string {
  return [answer.replace(/\.$/, ''), ...next.slice(0, 1)].join('; ');
}
