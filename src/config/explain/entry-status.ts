import type { Configuration } from '../configuration.ts';
import { faultText } from '../files/diagnostics.ts';
import { isInProgram } from '../merge/merge-servers.ts';
import type { ConfiguredServer, LostServer, Source, WrittenServer } from '../model.ts';
import { type ConnectionRow, type SourceRow, standAt, standOf, standText } from './explanation.ts';

/** What the sentence about a server is made of. */
type Told = {
  readonly server: ConfiguredServer;
  /** Why it cannot be expanded. */
  readonly faults: readonly string[];
  readonly connection: ConnectionRow | 'not asked';
};

/** One sentence: what the server is now and why. */
export function answerOf({ server, faults, connection }: Told): string {
  const { name, written, verdict, lost } = server;
  const place = `${standText(standOf(written))} (${written.scope})`;
  switch (verdict.kind) {
    case 'pending':
      return verdict.choice === 'changed'
        ? `"${name}" is not started: ${place} changed since you approved it.`
        : `"${name}" is not started: ${place} comes with the project and nobody here has approved it.`;
    case 'rejected':
      return `"${name}" is not started: you rejected ${place}.`;
    case 'blocked':
      return `"${name}" is not started: ${verdict.rule} forbids it.`;
    case 'disabled':
      return `"${name}" is not started: ${verdict.label} turns it off.`;
    case 'broken':
      return `"${name}" cannot be used: ${faultText(verdict.fault)}.`;
    case 'ready':
      break;
  }
  if (faults.length > 0) return `"${name}" cannot be started: ${faults.join('; ')}.`;
  if (connection !== 'not asked' && connection.state !== 'connected') {
    return `"${name}" is configured and does not work: ${connection.lastError ?? connection.state}.`;
  }
  const over = lost.filter(({ why }) => why === 'shadowed').length;
  const beats = over === 0 ? '' : `, which beats ${over === 1 ? 'one other entry' : `${over} other entries`}`;
  const state = connection === 'not asked' ? 'is ready to be started' : 'works';
  const waits = lost.filter(({ why }) => why === 'pending').map((it) => standText(standOf(it.written)));
  const waiting = waits.length === 0 ? '' : `; ${waits.join(', ')} waits for your approval`;
  return `"${name}" ${state}, from ${place}${beats}${waiting}.`;
}

/** One sentence about a name that was written and that nothing has. */
export function answerOfLost(name: string, first: LostServer, managed: string | undefined): string {
  const place = `${standText(standOf(first.written))} (${first.written.scope})`;
  const other = first.winner;
  switch (first.why) {
    case 'managed':
      return `"${name}" does not count: ${managed ?? 'the managed file of this machine'} excludes ${place} and all other files.`;
    case 'duplicate':
      return other
        ? `"${name}" of ${place} does not count: "${other.name}" of ${standText(standOf(other))} (${other.scope}) leads to the same server.`
        : `"${name}" of ${place} does not count: another entry leads to the same server.`;
    case 'left-out':
      return `"${name}" of ${place} does not count: --strict-mcp-config or --setting-sources leaves it out.`;
    default:
      return `"${name}" of ${place} does not count: ${lossText(first)}.`;
  }
}

/** Why an entry does not count, in words that need no manual. */
export function lossText({ written, why, winner }: LostServer): string {
  const other = winner && placeOf(winner, written);
  switch (why) {
    case 'shadowed':
      return other === undefined ? 'a higher source has the name' : `shadowed by ${other}`;
    case 'pending':
      return `waits for your approval${winner ? `, so ${placeOf(winner, written)} counts` : ''}`;
    case 'rejected':
      return `you rejected it${winner ? `, so ${placeOf(winner, written)} counts` : ''}`;
    case 'duplicate':
      return winner === undefined
        ? 'another entry leads to the same server'
        : `leads to the same server as "${winner.name}" (${winner.scope})`;
    case 'same-name':
      return winner === undefined
        ? 'models cannot tell its name from that of another server'
        : `models cannot tell its name from "${winner.name}" ${isInProgram(winner) ? 'in' : 'at'} ${standText(standOf(winner))}`;
    case 'left-out':
      return 'left out by --strict-mcp-config or --setting-sources';
    case 'managed':
      return 'the managed file of this machine excludes it';
  }
}

function placeOf(winner: WrittenServer, loser: WrittenServer): string {
  if (isInProgram(winner)) return `the server of this name in ${winner.label}`;
  const of = winner.owner === undefined ? '' : ` "${winner.owner}"`;
  const isSamePlace = winner.label === loser.label && winner.scope === loser.scope;
  return isSamePlace ? `the entry at ${standText(standOf(winner))}` : `${winner.scope}${of}`;
}

/** What each source has of the name, the highest first. */
export function sourceRows(
  { sources }: Pick<Configuration, 'sources'>,
  name: string,
  found: { readonly winner?: ConfiguredServer; readonly lost: readonly LostServer[] },
): SourceRow[] {
  return [...sources].reverse().flatMap((source) => {
    const its = source.servers.filter((written) => written.name === name);
    if (its.length === 0) return [emptyRow(source)];
    return its.map((written) => rowOf(source, written, found));
  });
}

function rowOf(
  source: Source,
  written: WrittenServer,
  { winner, lost }: { readonly winner?: ConfiguredServer; readonly lost: readonly LostServer[] },
): SourceRow {
  const common = { ...standOf(written), state: source.state, ...ownerOf(source) };
  if (winner?.written === written) return { ...common, has: 'winner', says: WINS[winner.verdict.kind] };
  const loss = lost.find((it) => it.written === written);
  return { ...common, has: 'lost', says: loss ? lossText(loss) : 'does not count' };
}

/** What the entry that has the name is worth. */
const WINS: Readonly<Record<ConfiguredServer['verdict']['kind'], string>> = {
  ready: 'counts',
  pending: 'waits for your approval',
  rejected: 'you rejected it',
  blocked: 'has the name, and policy forbids it',
  disabled: 'has the name, and is turned off',
  broken: 'has the name, and cannot be used as it is written',
};

function emptyRow(source: Source): SourceRow {
  const position = source.faults.find(({ level }) => level === 'error')?.position;
  const stand = standAt(source.scope, source.label, source.state === 'unusable' ? position : undefined);
  return { ...stand, state: source.state, ...ownerOf(source), has: 'nothing', says: EMPTY[source.state] };
}

const EMPTY: Readonly<Record<Source['state'], string>> = {
  read: 'does not name it',
  absent: 'not there',
  unusable: 'broken, so nothing in it counts',
};

function ownerOf({ owner }: Source): { owner?: string } {
  return owner === undefined ? {} : { owner };
}
