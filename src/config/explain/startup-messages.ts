import { shellWord } from '../../base/text/display-text.ts';
import type { Configuration } from '../configuration.ts';
import { faultText, placeText } from '../files/diagnostics.ts';
import { rulingSource } from '../merge/eligibility.ts';
import type { ConfigFault, ConfiguredServer, LostServer, WrittenServer } from '../model.ts';

/** What nothing may be started with: what was given for this very run, or by those who run the machine, cannot be read. */
export function fatalFaults({
  faults,
  sources,
  unreadPolicies,
}: Pick<Configuration, 'faults' | 'sources' | 'unreadPolicies'>): ConfigFault[] {
  const unusable = new Set(sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults));
  const isFatal = (fault: ConfigFault) =>
    fault.isFatal === true ||
    (fault.scope === 'program' && (unusable.has(fault) || fault.key === undefined)) ||
    unreadPolicies.includes(fault.label);
  return faults.filter(isFatal);
}

/** The same in words; who did not write it cannot mend it. */
export function sayFatal(configuration: Parameters<typeof fatalFaults>[0]): string[] {
  return fatalFaults(configuration).map((fault) =>
    fault.scope === 'managed' ? `${faultText(fault)}; ${UNTIL_MENDED}` : faultText(fault),
  );
}

const UNTIL_MENDED = 'nothing is run before it is mended: ask those who run this machine';

/** What a person should know of a configuration that is put to use: what does not count, and what to do. One line each. */
export function sayStart(configuration: Configuration): string[] {
  const { merged, settings, faults, unused } = configuration;
  return [
    ...faults.map(faultText),
    // What was given for this very run was given for an effect.
    ...unused.filter((text) => text.startsWith('--settings')),
    ...merged.servers.flatMap(sayBlocked),
    ...sayExcluded(configuration),
    ...sayPending(merged),
    ...settings.pending.map(
      ({ label, choice }) =>
        `${label} ${choice === 'new' ? 'waits for approval' : 'changed since it was approved'}, so only what it forbids counts: run "toolplane mcp approve --settings"`,
    ),
  ];
}

function sayBlocked({ name, written, verdict }: ConfiguredServer): string[] {
  if (verdict.kind !== 'blocked') return [];
  const where = placeText(written.label, written.position);
  return [`server "${name}" of ${where} was not started: ${verdict.rule} forbids it`];
}

/** Nobody reads more of them. */
const MOST_PENDING = 20;

function sayPending({ servers, lost }: Configuration['merged']): string[] {
  const waiting = [
    ...servers.flatMap(({ written, verdict, lost: below }) => [
      ...pendingOf(below),
      ...(verdict.kind === 'pending' ? [{ written, choice: verdict.choice }] : []),
    ]),
    ...pendingOf(lost),
  ];
  const lines = waiting.slice(0, MOST_PENDING).map(({ written, choice }) => pendingText(written, choice));
  const more = waiting.length - lines.length;
  return more > 0
    ? [...lines, `and ${more} more servers wait for approval: run toolplane mcp approve to see them`]
    : lines;
}

function pendingOf(lost: readonly LostServer[]): { written: WrittenServer; choice: 'new' | 'changed' }[] {
  return lost.flatMap(({ written, why }) => (why === 'pending' ? [{ written, choice: 'new' }] : []));
}

function pendingText({ name, label, position }: WrittenServer, choice: 'new' | 'changed'): string {
  const why = choice === 'new' ? 'waits for approval' : 'changed since it was approved';
  return `server "${name}" of ${placeText(label, position)} ${why} and was not started: run toolplane mcp approve ${shellWord(name)}`;
}

/** What a person should know now and did not have to know before. Faults are not among it: who reads the files tells them. */
export function sayNews(before: Configuration, now: Configuration): string[] {
  const faults = new Set(now.faults.map(faultText));
  const known = new Set(sayStart(before).map(withoutPlace));
  return sayStart(now).filter((text) => !faults.has(text) && !known.has(withoutPlace(text)));
}

/** What only moved in its file is no news. */
function withoutPlace(text: string): string {
  return text.replace(/:\d+:\d+ /, ' ');
}

/** What a managed file excludes, a line each: the servers that were given for this very run, and how many others. */
function sayExcluded({ merged, sources }: Pick<Configuration, 'merged' | 'sources'>): string[] {
  const managed = rulingSource(sources)?.label;
  if (managed === undefined) return [];
  const excluded = [...merged.servers.flatMap(({ lost }) => lost), ...merged.lost].flatMap(
    ({ written, why }) => (why === 'managed' ? [written] : []),
  );
  const given = excluded.filter(({ scope }) => scope === 'program');
  const others = new Set(excluded.filter(({ scope }) => scope !== 'program').map(({ name }) => name));
  return [
    ...given.map(
      ({ name, label, position }) =>
        `server "${name}" of ${placeText(label, position)} was not started: ${managed} excludes all servers but its own`,
    ),
    ...(others.size > 0 ? [othersText(managed, others.size)] : []),
  ];
}

function othersText(managed: string, count: number): string {
  const servers = count === 1 ? 'one server that is' : `${count} servers that are`;
  return `${managed} excludes ${servers} configured elsewhere: run toolplane mcp list to see more`;
}
