import { msText } from '../../config/explain/explain-timeout.ts';
import { type LimitRow, standText } from '../../config/explain/explanation.ts';

import type { Piece } from '../chat/piece.ts';
import { section } from './section.ts';

/** Why something in a file of the project is told and has no effect. */
export const NOT_APPROVED = 'does not count: nobody approved the file';

/** Each limit with where it comes from; below it what it beat, where that is wanted. */
export function limitSection(limits: readonly LimitRow[], detail: 'brief' | 'whole'): Piece[] {
  return section(
    'time-outs',
    limits.flatMap((row) => [
      [LIMITS[row.limit], row.ms === undefined ? 'none' : msText(row.ms), placed(row, detail)],
      ...(detail === 'whole' ? beatenRows(row) : []),
    ]),
  );
}

const LIMITS: Readonly<Record<LimitRow['limit'], string>> = {
  connect: 'to connect',
  call: 'one call',
  idle: 'silence',
};

function placed({ by, said }: LimitRow, detail: 'brief' | 'whole'): string {
  const at = said.find(({ counts }) => counts)?.at;
  const beaten =
    detail === 'whole' ? 0 : said.filter((it) => !it.counts && !it.isPending && it.at !== undefined).length;
  const beats = beaten === 0 ? '' : `, which beats ${beaten === 1 ? 'another' : `${beaten} others`}`;
  return `${by}${at ? ` at ${standText(at)}` : ''}${beats}`;
}

function beatenRows({ said }: LimitRow): string[][] {
  return said
    .filter(({ counts }) => !counts)
    .map(({ ms, by, at, isPending }) => [
      isPending ? '  idle' : '  beaten',
      msText(ms),
      `${by}${at ? ` at ${standText(at)}` : ''}${isPending ? `, ${NOT_APPROVED}` : ''}`,
    ]);
}
