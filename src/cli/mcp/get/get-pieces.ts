import { lossText } from '../../../config/explain/entry-status.ts';
import { maskEntry } from '../../../config/explain/mask-entry.ts';
import type { WrittenServer } from '../../../config/model.ts';
import { line, type Piece } from '../../chat/piece.ts';
import { MARKS } from '../health.ts';
import { whereText } from '../where.ts';
import type { Found } from './found.ts';

/** One server for people. */
export function getPieces({ name, server, health, lost }: Found): Piece[] {
  const ofServer =
    server && health
      ? [
          line('  ', MARKS[health.state], ` ${health.text}`, ...introduced(health.serverInfo)),
          line(`  defined in ${whereText(server.written)}`),
          ...entryRows(server.written),
          ...server.settled.map(({ member, label }) => line(`  "${member}" is set in ${label}`)),
        ]
      : [line(['  no entry of this name counts', 'warn'])];
  const others = lost.flatMap((it) => [
    line(`  ${server ? 'also ' : ''}in ${whereText(it.written)}: `, [lossText(it), 'dim']),
    ...entryRows(it.written),
  ]);
  return [line([name, 'strong']), ...ofServer, ...others];
}

function introduced(info: { readonly name: string; readonly version: string } | undefined): string[] {
  return info ? [`, ${info.name} ${info.version}`] : [];
}

/** The entry as it stands in the file, with what may be secret hidden. */
function entryRows({ raw }: WrittenServer): Piece[] {
  return JSON.stringify(maskEntry(raw), null, 2)
    .split('\n')
    .map((row) => line(`    ${row}`));
}
