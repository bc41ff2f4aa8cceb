import { isInProgram } from '../merge/in-program.ts';
import type { LostServer, WrittenServer } from '../model.ts';
import { standOf, standText } from './stand.ts';

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
