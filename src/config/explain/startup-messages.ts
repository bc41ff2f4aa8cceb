import { shellQuote } from '../../base/text/display-text.ts';
import type { Configuration } from '../configuration.ts';
import { formatDiagnostic, formatPosition } from '../files/diagnostics.ts';
import { managedSource } from '../merge/eligibility.ts';
import type { ConfigDiagnostic, WrittenServer } from '../model.ts';
import { ignoredEntries } from './server-record.ts';

/** Diagnostics that keep everything from starting: a flag of this run or managed settings cannot be used. */
export function fatalDiagnostics({
  faults,
  sources,
  unreadPolicies,
}: Pick<Configuration, 'faults' | 'sources' | 'unreadPolicies'>): ConfigDiagnostic[] {
  const unusable = new Set(sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults));
  const isFatal = (fault: ConfigDiagnostic) =>
    fault.isFatal === true ||
    (fault.scope === 'program' && (unusable.has(fault) || fault.key === undefined)) ||
    unreadPolicies.includes(fault.label);
  return faults.filter(isFatal);
}

/** The same as text; managed files are for administrators to fix. */
export function fatalMessages(configuration: Parameters<typeof fatalDiagnostics>[0]): string[] {
  return fatalDiagnostics(configuration).map((fault) =>
    fault.scope === 'managed' ? `${formatDiagnostic(fault)}; ${ASK_ADMINISTRATOR}` : formatDiagnostic(fault),
  );
}

const ASK_ADMINISTRATOR = 'nothing is started until this is fixed: ask your administrator';

/** What a person should know when a configuration comes into use: what is ignored and what to do, one line each. */
export function startupMessages(configuration: Configuration): string[] {
  return [...configuration.faults.map(formatDiagnostic), ...noticesOf(configuration).map(({ text }) => text)];
}

/** Messages that a changed configuration adds. Diagnostics are not included: the reader of the files reports them. */
export function newStartupMessages(before: Configuration, now: Configuration): string[] {
  const known = new Set(noticesOf(before).map(({ key }) => key));
  return noticesOf(now).flatMap(({ key, text }) => (known.has(key) ? [] : [text]));
}

/** A message; two with the same key differ only in the position of an entry in its file. */
type Notice = { readonly key: string; readonly text: string };

function noticesOf(configuration: Configuration): Notice[] {
  const { settings, unused } = configuration;
  return [
    ...unused.filter(({ isReported }) => isReported).map(({ text }) => plain(text)),
    ...blockedNotices(configuration),
    ...excludedNotices(configuration),
    ...pendingNotices(configuration),
    ...settings.pending.map(({ label, choice }) =>
      plain(
        `${label} ${choice === 'new' ? 'is not approved' : 'changed since it was approved'}, so only its restrictions are active: to review and approve it, run "toolplane mcp approve"`,
      ),
    ),
  ];
}

function plain(text: string): Notice {
  return { key: text, text };
}

function ofEntry({ name, label, position }: WrittenServer, text: string): Notice {
  const about = (place: string) => `server "${name}" in ${place} ${text}`;
  return { key: about(label), text: about(formatPosition(label, position)) };
}

function blockedNotices({ merged }: Configuration): Notice[] {
  return merged.servers.flatMap(({ written, verdict }) =>
    verdict.kind === 'blocked' ? [ofEntry(written, `was not started: ${verdict.rule} forbids it`)] : [],
  );
}

const MAX_PENDING = 20;

function pendingNotices({ merged: { servers, lost } }: Configuration): Notice[] {
  const ignored = (entries: typeof lost) =>
    entries.flatMap(({ written, why }) => (why === 'pending' ? [{ written, choice: 'new' }] : []));
  const pending = [
    ...servers.flatMap(({ written, verdict, lost: entries }) => [
      ...ignored(entries),
      ...(verdict.kind === 'pending' ? [{ written, choice: verdict.choice }] : []),
    ]),
    ...ignored(lost),
  ];
  const notices = pending.slice(0, MAX_PENDING).map(({ written, choice }) => {
    const why = choice === 'new' ? 'is not approved' : 'changed since it was approved';
    return ofEntry(
      written,
      `${why} and was not started: run toolplane mcp approve ${shellQuote(written.name)}`,
    );
  });
  const more = pending.length - notices.length;
  if (more <= 0) return notices;
  return [
    ...notices,
    plain(
      `${more} more ${more === 1 ? 'server needs' : 'servers need'} approval: run toolplane mcp approve to see them`,
    ),
  ];
}

/** Servers that a managed file excludes: one message for each that was given for this run, and a count of the others. */
function excludedNotices(configuration: Configuration): Notice[] {
  const managed = managedSource(configuration.sources)?.label;
  if (managed === undefined) return [];
  const excluded = ignoredEntries(configuration).flatMap(({ written, why }) =>
    why === 'managed' ? [written] : [],
  );
  const given = excluded.filter(({ scope }) => scope === 'program');
  const others = new Set(excluded.filter(({ scope }) => scope !== 'program').map(({ name }) => name));
  const servers = others.size === 1 ? 'one server that is' : `${others.size} servers that are`;
  return [
    ...given.map((written) =>
      ofEntry(written, `was not started: ${managed} allows only the servers it defines`),
    ),
    ...(others.size > 0
      ? [plain(`${managed} excludes ${servers} configured elsewhere: run toolplane mcp list for details`)]
      : []),
  ];
}
