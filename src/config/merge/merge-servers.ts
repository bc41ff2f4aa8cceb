import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { normalizeName } from '../../protocol/tool-name.ts';
import type { Choices } from '../approval/approvals.ts';
import { keyText, placeText } from '../files/diagnostics.ts';
import type {
  ConfigFault,
  LostServer,
  Merged,
  Position,
  Scope,
  ServerOverride,
  Source,
  WrittenServer,
} from '../model.ts';
import { managedOrder, rulingSource, type Standing, standingsOf } from './eligibility.ts';
import type { Policy } from './policy.ts';
import { settle } from './resolve-server.ts';
import { normalUrl } from './url-pattern.ts';

export type MergeInput = {
  /** The lowest first; within a scope the later one beats the earlier. Of managed ones the first alone counts. */
  readonly sources: readonly Source[];
  readonly choices: Pick<Choices, 'ofServer'>;
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
  const standings = standingsOf(input);
  const programNames = new Set(input.programNames);
  const { holders, losses, alike } = contest(
    standings,
    [...programNames].map((name): Standing => ({ written: inProgram(name), stands: 'counts' })),
  );
  const shown = new Map(
    [...holders, ...waitingOf(standings, holders)].filter(([name]) => !programNames.has(name)),
  );
  const lost = Map.groupBy(
    standings.filter((it) => shown.get(it.written.name) !== it),
    ({ written: { name } }) => (shown.has(name) ? name : undefined),
  );
  const lostOf = (name: string | undefined): readonly LostServer[] =>
    (lost.get(name) ?? []).map((it) => lostServer(it, losses.get(it), holders.get(it.written.name)));
  const isBelow = managedOrder(input.sources);
  const overrides = Map.groupBy(input.overrides, ({ name }) => name);
  const settled = [...shown]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, standing]) => {
      const said = { policy: input.policy, overrides: overrides.get(name) ?? [], isBelow };
      return { ...settle(standing, said), lost: lostOf(name) };
    });
  return {
    servers: settled.map(({ server, lost }) => ({ ...server, lost })),
    lost: lostOf(undefined),
    faults: [
      ...unreadManaged(input.sources),
      ...alike,
      ...settled.flatMap(({ faults }) => faults),
      ...namelessSettings(input),
    ],
  };
}

type Loss = { readonly why: 'shadowed' | 'same-name' | 'duplicate'; readonly to: Standing };

/** Who has which name, the highest first; all others that count lose to somebody. */
function contest(
  standings: readonly Standing[],
  ofProgram: readonly Standing[],
): {
  readonly holders: ReadonlyMap<string, Standing>;
  readonly losses: ReadonlyMap<Standing, Loss>;
  readonly alike: readonly ConfigFault[];
} {
  // By the name a model sees, so that of two that look the same to it one counts.
  const seen = new Map(ofProgram.map((it) => [normalizeName(it.written.name), it]));
  const signatures = new Map<string, Standing>();
  const losses = new Map<Standing, Loss>();
  const alike = new Map<string, ConfigFault>();
  const hasConnectors = standings.some(({ written }) => written.scope === 'connector');
  for (const standing of standings) {
    if (standing.stands !== 'counts') continue;
    const { name, scope, entry } = standing.written;
    const holder = seen.get(normalizeName(name));
    const signature = entry && hasConnectors ? signatureOf(entry) : undefined;
    const twin = scope === 'connector' && signature !== undefined ? signatures.get(signature) : undefined;
    if (holder?.written.name === name) {
      losses.set(standing, { why: 'shadowed', to: holder });
    } else if (holder) {
      losses.set(standing, { why: 'same-name', to: holder });
      if (!alike.has(name)) alike.set(name, alikeFault(standing, holder));
    } else if (twin) {
      losses.set(standing, { why: 'duplicate', to: twin });
    } else {
      seen.set(normalizeName(name), standing);
      if (signature !== undefined && !signatures.has(signature)) signatures.set(signature, standing);
    }
  }
  const holders = new Map([...ofProgram, ...seen.values()].map((it) => [it.written.name, it]));
  return { holders, losses, alike: [...alike.values()] };
}

/** Of a name that nobody has, the entry to show: the highest that a person may still approve, else the highest rejected. */
function waitingOf(
  standings: readonly Standing[],
  holders: ReadonlyMap<string, Standing>,
): ReadonlyMap<string, Standing> {
  const waiting = new Map<string, Standing>();
  for (const kind of ['pending', 'rejected'] as const) {
    for (const standing of standings) {
      const { name } = standing.written;
      if (standing.stands === kind && !holders.has(name) && !waiting.has(name)) waiting.set(name, standing);
    }
  }
  return waiting;
}

function lostServer(
  { written, stands }: Standing,
  loss: Loss | undefined,
  holder: Standing | undefined,
): LostServer {
  const winner = (loss?.to ?? holder)?.written;
  // Who counts and has no name lost it to somebody.
  const why = loss?.why ?? (stands === 'counts' ? 'shadowed' : stands);
  return { written, why, ...(winner && { winner }) };
}

function alikeFault({ written }: Standing, { written: winner }: Standing): ConfigFault {
  const { name, scope, label, position } = written;
  const other = `${keyText([winner.name])} of ${placeText(winner.label, winner.position)}`;
  return {
    level: 'error',
    scope,
    label,
    key: keyText(['mcpServers', name]),
    ...(position && { position }),
    message: `it does not count, since a model cannot tell its name from ${other}; rename one of them`,
  };
}

function unreadManaged(sources: readonly Source[]): readonly ConfigFault[] {
  const ruling = rulingSource(sources);
  if (ruling?.state !== 'unusable') return [];
  const message = 'no server is started before this file can be read: mend it, or have it removed';
  return [{ level: 'error', scope: 'managed', label: ruling.label, message }];
}

/** A server in the program itself, as the one that has a name: it stands in no file, and nobody dials it. */
function inProgram(name: string): WrittenServer {
  return { name, scope: 'program', label: 'the program itself', raw: { type: 'sdk' } };
}

/** Whether what has a name is no entry but a server in the program itself. */
export function isInProgram({ scope, raw }: WrittenServer): boolean {
  return scope === 'program' && isRecord(raw) && raw.type === 'sdk';
}

type Input = {
  readonly sources: readonly Source[];
  readonly overrides: readonly ServerOverride[];
  readonly programNames?: readonly string[];
  readonly placeOf?: (override: ServerOverride) => Position | undefined;
};

/**
 * What settings say of servers that nobody wrote: most likely the name is mistyped, and what they set would do nothing
 * without a word. Where not all names are known, nothing is said.
 */
function namelessSettings({ sources, overrides, programNames = [], placeOf }: Input): readonly ConfigFault[] {
  if (overrides.length === 0 || sources.some(isUnknown)) return [];
  const known = new Set([
    ...programNames,
    ...sources.flatMap(({ servers }) => servers.map(({ name }) => name)),
  ]);
  const names = [...known];
  let looked = 0;
  const faults = new Map<string, ConfigFault>();
  for (const override of overrides) {
    const { name, scope, label, path } = override;
    // The same settings may speak twice of it, once of what they add.
    const id = JSON.stringify([scope, path ?? label, name]);
    if (known.has(name) || faults.has(id)) continue;
    // To guess takes time, and whoever errs so often needs no guesses.
    if (++looked > MOST) break;
    const meant = nearest(name, names);
    if (meant === undefined && EVERYWHERE.has(scope)) continue;
    const guess = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
    const position = placeOf?.(override);
    faults.set(id, {
      level: 'warning',
      scope,
      label,
      key: keyText(['serverSettings', name]),
      ...(position && { position }),
      message: `no server is called so${guess}`,
    });
  }
  return [...faults.values()];
}

/** How many names are looked at. */
const MOST = 50;

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
  const url = written.includes('${') ? undefined : normalUrl(written);
  return url ? `${url.scheme}://${url.host}:${url.port}${url.path}${url.query}` : written;
}
