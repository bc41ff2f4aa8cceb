import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { normalizeName } from '../../protocol/tool-name.ts';
import type { Approvals } from '../approval/approvals.ts';
import { formatKeyPath, formatPosition } from '../files/diagnostics.ts';
import type {
  ConfigDiagnostic,
  IgnoredServer,
  Merged,
  Position,
  Scope,
  ServerOverride,
  Source,
  WrittenServer,
} from '../model.ts';
import { type Candidate, managedOrder, managedSource, rankCandidates } from './eligibility.ts';
import type { Policy } from './policy.ts';
import { entryDiagnostic, resolveServer } from './resolve-server.ts';
import { normalizeUrl } from './url-pattern.ts';

export type MergeInput = {
  /** Lowest precedence first; within a scope the later one takes precedence. Of managed files only the first is used. */
  readonly sources: readonly Source[];
  readonly approvals: Pick<Approvals, 'ofServer'>;
  readonly policy: Pick<Policy, 'judge'>;
  /** Settings for servers, lowest precedence first. */
  readonly overrides: readonly ServerOverride[];
  /** Use only servers of the program and managed servers. */
  readonly isStrict?: boolean;
  /** The names of in-process servers, which shadow all others. */
  readonly programNames?: readonly string[];
  /** The position of an override; used for diagnostics only. */
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/** Decides which entry is used for each name, and why; depends on the input only. */
export function mergeServers(input: MergeInput): Merged {
  const candidates = rankCandidates(input);
  const programNames = new Set(input.programNames);
  const { holders, losses, alike } = assignNames(
    candidates,
    [...programNames].map((name): Candidate => ({ written: programServer(name), eligibility: 'eligible' })),
  );
  const shown = new Map(
    [...holders, ...pendingCandidates(candidates, holders)].filter(([name]) => !programNames.has(name)),
  );
  const lost = Map.groupBy(
    candidates.filter((it) => shown.get(it.written.name) !== it),
    ({ written: { name } }) => (shown.has(name) ? name : undefined),
  );
  const lostOf = (name: string | undefined): readonly IgnoredServer[] =>
    (lost.get(name) ?? []).map((it) => lostServer(it, losses.get(it), holders.get(it.written.name)));
  const isBelow = managedOrder(input.sources);
  const overrides = Map.groupBy(input.overrides, ({ name }) => name);
  const settled = [...shown]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, candidate]) => {
      const context = { policy: input.policy, overrides: overrides.get(name) ?? [], isBelow };
      return { ...resolveServer(candidate, context), lost: lostOf(name) };
    });
  return {
    servers: settled.map(({ server, lost }) => ({ ...server, lost })),
    lost: lostOf(undefined),
    faults: [
      ...unreadManaged(input.sources),
      ...alike,
      ...settled.flatMap(({ faults }) => faults),
      ...unknownServerSettings(input),
    ],
  };
}

type Loss = { readonly why: 'shadowed' | 'same-name' | 'duplicate'; readonly to: Candidate };

/** Assigns each name to the eligible candidate with the highest precedence; the others lose to it. */
function assignNames(
  candidates: readonly Candidate[],
  ofProgram: readonly Candidate[],
): {
  readonly holders: ReadonlyMap<string, Candidate>;
  readonly losses: ReadonlyMap<Candidate, Loss>;
  readonly alike: readonly ConfigDiagnostic[];
} {
  // By normalized name: of two names that are the same to a model only one is used.
  const seen = new Map(ofProgram.map((it) => [normalizeName(it.written.name), it]));
  const signatures = new Map<string, Candidate>();
  const losses = new Map<Candidate, Loss>();
  const alike = new Map<string, ConfigDiagnostic>();
  const hasConnectors = candidates.some(({ written }) => written.scope === 'connector');
  for (const candidate of candidates) {
    if (candidate.eligibility !== 'eligible') continue;
    const { name, scope, entry } = candidate.written;
    const holder = seen.get(normalizeName(name));
    const signature = entry && hasConnectors ? signatureOf(entry) : undefined;
    const twin = scope === 'connector' && signature !== undefined ? signatures.get(signature) : undefined;
    if (holder?.written.name === name) {
      losses.set(candidate, { why: 'shadowed', to: holder });
    } else if (holder) {
      losses.set(candidate, { why: 'same-name', to: holder });
      if (!alike.has(name)) alike.set(name, nameConflict(candidate, holder));
    } else if (twin) {
      losses.set(candidate, { why: 'duplicate', to: twin });
    } else {
      seen.set(normalizeName(name), candidate);
      if (signature !== undefined && !signatures.has(signature)) signatures.set(signature, candidate);
    }
  }
  const holders = new Map([...ofProgram, ...seen.values()].map((it) => [it.written.name, it]));
  return { holders, losses, alike: [...alike.values()] };
}

/** For names without a holder, the entry to show: the highest pending one, otherwise the highest rejected one. */
function pendingCandidates(
  candidates: readonly Candidate[],
  holders: ReadonlyMap<string, Candidate>,
): ReadonlyMap<string, Candidate> {
  const waiting = new Map<string, Candidate>();
  for (const kind of ['pending', 'rejected'] as const) {
    for (const candidate of candidates) {
      const { name } = candidate.written;
      if (candidate.eligibility === kind && !holders.has(name) && !waiting.has(name))
        waiting.set(name, candidate);
    }
  }
  return waiting;
}

function lostServer(
  { written, eligibility }: Candidate,
  loss: Loss | undefined,
  holder: Candidate | undefined,
): IgnoredServer {
  const winner = (loss?.to ?? holder)?.written;
  // An eligible candidate without its name is shadowed.
  const why = loss?.why ?? (eligibility === 'eligible' ? 'shadowed' : eligibility);
  return { written, why, ...(winner && { winner }) };
}

function nameConflict({ written }: Candidate, { written: winner }: Candidate): ConfigDiagnostic {
  const other = `${formatKeyPath([winner.name])} of ${formatPosition(winner.label, winner.position)}`;
  const message = `ignored: its name and ${other} normalize to the same identifier; rename one of them`;
  return entryDiagnostic(written, 'error', message);
}

function unreadManaged(sources: readonly Source[]): readonly ConfigDiagnostic[] {
  const ruling = managedSource(sources);
  if (ruling?.state !== 'unusable') return [];
  const message = 'no server is started until this file can be read: fix or remove it';
  return [{ level: 'error', scope: 'managed', label: ruling.label, message }];
}

/** An in-process server as the holder of its name; it is in no file. */
function programServer(name: string): WrittenServer {
  return { name, scope: 'program', label: 'the program itself', raw: { type: 'sdk' } };
}

/** Whether the holder of a name is an in-process server. */
export function isProgramServer({ scope, raw }: WrittenServer): boolean {
  return scope === 'program' && isRecord(raw) && raw.type === 'sdk';
}

/**
 * Identifies the server that an entry leads to (R167): the command with its arguments and `cwd`, on which relative paths
 * depend, or the normalized URL without its `type`, which an entry may leave out. Credentials (`env`, `headers`,
 * `user:password@`), timeouts, tool lists and trust are not part of it.
 */
export function signatureOf(entry: ExternalServerEntry): string {
  if ('url' in entry && entry.url !== undefined) return JSON.stringify(['url', addressOf(entry.url)]);
  if (entry.type === 'sse-ide' || entry.type === 'ws-ide')
    return JSON.stringify(['ide', entry.ideName ?? null]);
  const {
    command,
    args = [],
    cwd = null,
  } = entry as Partial<Extract<ExternalServerEntry, { command: string }>>;
  return JSON.stringify(['command', cwd, command, ...args]);
}

function addressOf(written: string): string {
  // The values of variables are not known yet, so only equal texts are the same URL.
  const url = written.includes('${') ? undefined : normalizeUrl(written);
  return url ? `${url.scheme}://${url.host}:${url.port}${url.path}${url.query}` : written;
}

type SettingsInput = {
  readonly sources: readonly Source[];
  readonly overrides: readonly ServerOverride[];
  readonly programNames?: readonly string[];
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/** Warns about settings for unknown servers, which are probably misspelled, unless some names are not known. */
function unknownServerSettings({
  sources,
  overrides,
  programNames = [],
  placeOf,
}: SettingsInput): readonly ConfigDiagnostic[] {
  if (overrides.length === 0 || sources.some(isUnknown)) return [];
  const known = new Set([
    ...programNames,
    ...sources.flatMap(({ servers }) => servers.map(({ name }) => name)),
  ]);
  const names = [...known];
  let looked = 0;
  const faults = new Map<string, ConfigDiagnostic>();
  for (const override of overrides) {
    const { name, scope, label, path, isForProject } = override;
    if (isForProject) continue;
    // Managed settings with lower precedence occur twice: once for the exclusions that they add.
    const id = JSON.stringify([scope, path ?? label, name]);
    if (known.has(name) || faults.has(id)) continue;
    // Each suggestion compares the name with all others, so their number is limited.
    if (++looked > MAX_GUESSES) break;
    const suggestion = nearest(name, names);
    if (suggestion === undefined && EVERYWHERE.has(scope)) continue;
    const guess = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`;
    const position = placeOf?.(override);
    faults.set(id, {
      level: 'warning',
      scope,
      label,
      key: formatKeyPath(['serverSettings', name]),
      ...(position && { position }),
      message: `no server has this name${guess}`,
    });
  }
  return [...faults.values()];
}

/** Maximum number of unknown names that are reported. */
const MAX_GUESSES = 50;

/** Scopes whose settings apply to all projects and may be about a server of another project. */
const EVERYWHERE: ReadonlySet<Scope> = new Set(['user', 'managed']);

/** Whether the servers of a source are not known; a catalog may not be fetched yet. */
function isUnknown({ state, leftOut, scope }: Source): boolean {
  return state === 'unusable' || leftOut === true || (state === 'absent' && scope === 'connector');
}
