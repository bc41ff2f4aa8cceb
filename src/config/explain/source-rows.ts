import type { Configuration } from '../configuration.ts';
import type { ConfiguredServer, LostServer, Source, WrittenServer } from '../model.ts';
import type { SourceRow } from './explanation.ts';
import { lossText } from './loss-text.ts';
import { standAt, standOf } from './stand.ts';

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
