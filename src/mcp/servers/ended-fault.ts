import { lastWords } from '../../base/last-words.ts';
import { HostError } from '../connection/host-error.ts';
import type { Lane } from './dial-queue.ts';

/** Why a connection ended by itself, in words that say what to do; `stderr` ends with how its process ended. */
export function endedFault(key: string, lane: Lane, stderr: readonly string[]): HostError {
  return new HostError('closed', key, lane === 'local' ? processFault(stderr) : REMOTE, { isTerminal: true });
}

const REMOTE = 'the connection closed; see whether the server still runs';

function processFault(stderr: readonly string[]): string {
  const said = stderr.length === 0 ? '' : `; it said: ${lastWords(stderr)}`;
  return `its process ended${said}; see why, or run its command by hand`;
}
