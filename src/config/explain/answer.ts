import { faultText } from '../fault-text.ts';
import type { ConfiguredServer, LostServer } from '../model.ts';
import type { ConnectionRow } from './explanation.ts';
import { lossText } from './loss-text.ts';
import { standOf, standText } from './stand.ts';

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
