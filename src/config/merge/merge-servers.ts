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
  /** The lowest first; within a scope the later one beats the earlier. Of managed ones the first alone counts. */
  readonly sources: readonly Source[];
  readonly approvals: Pick<Approvals, 'ofServer'>;
  readonly policy: Pick<Policy, 'judge'>;
  /** What settings say of servers; the lowest first. */
  readonly overrides: readonly ServerOverride[];
  /** Only the program's and managed servers count. */
  readonly isStrict?: boolean;
  /** Servers in the program itself, which have their names before all others. */
  readonly programNames?: readonly string[];
  /** Where what settings say of a server stands; asked only for what is wrong. */
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/** One answer for every name, and why. The same sources give the same answer. */
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

/** Who has which name, the highest first; all others that count lose to somebody. */
function assignNames(
  candidates: readonly Candidate[],
  ofProgram: readonly Candidate[],
): {
  readonly holders: ReadonlyMap<string, Candidate>;
  readonly losses: ReadonlyMap<Candidate, Loss>;
  readonly alike: readonly ConfigDiagnostic[];
} {
  // By the name a model sees, so that of two that look the same to it one counts.
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

/** Of a name that nobody has, the entry to show: the highest that a person may still approve, else the highest rejected. */
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
  // Who counts and has no name lost it to somebody.
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

/** A server in the program itself, as the one that has a name: it stands in no file, and nobody dials it. */
function programServer(name: string): WrittenServer {
  return { name, scope: 'program', label: 'the program itself', raw: { type: 'sdk' } };
}

/** Whether what has a name is no entry but a server in the program itself. */
export function isProgramServer({ scope, raw }: WrittenServer): boolean {
  return scope === 'program' && isRecord(raw) && raw.type === 'sdk';
}

/**
 * What settings say of servers that nobody wrote: most likely the name is mistyped, and what they set would do nothing
 * without a word. Where not all names are known, nothing is said.
 */
function unknownServerSettings({
  sources,
  overrides,
  programNames = [],
  placeOf,
}: MergeInput): readonly ConfigDiagnostic[] {
  if (overrides.length === 0 || sources.some(isUnknown)) return [];
  const known = new Set([
    ...programNames,
    ...sources.flatMap(({ servers }) => servers.map(({ name }) => name)),
  ]);
  const names = [...known];
  let looked = 0;
  const faults = new Map<string, ConfigDiagnostic>();
  for (const override of overrides) {
    const { name, scope, label, path } = override;
    // The same settings may speak twice of it, once of what they add.
    const id = JSON.stringify([scope, path ?? label, name]);
    if (known.has(name) || faults.has(id)) continue;
    // To guess takes time, and whoever errs so often needs no guesses.
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

/** How many names are looked at. */
const MAX_GUESSES = 50;

/** These hold for all projects, and may speak of a server that only another one has. */
const EVERYWHERE: ReadonlySet<Scope> = new Set(['user', 'managed']);

/** A catalogue that nobody has asked yet is not there either. */
function isUnknown({ state, leftOut, scope }: Source): boolean {
  return state === 'unusable' || leftOut === true || (state === 'absent' && scope === 'connector');
}

/**
 * What an entry leads to, as a text to compare (R167). Of a command: itself, its arguments one by one, in order and to
 * the letter, and `cwd`, on which their relative paths depend. Of an address: the address as it is dialled, whatever
 * `type` says, since one without a type may be of any. Credentials (`env`, `headers`, `user:password@`), time-outs,
 * tool lists and trust do not count.
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
  // What is put in later may be anything, so only the same text is the same place.
  const url = written.includes('${') ? undefined : normalizeUrl(written);
  return url ? `${url.scheme}://${url.host}:${url.port}${url.path}${url.query}` : written;
}
