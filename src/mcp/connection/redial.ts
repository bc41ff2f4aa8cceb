import { isRpcError } from './explain.ts';
import { readFailure } from './failure-facts.ts';
import type { Wire } from './wire.ts';
import type { EraVerdict } from './world.ts';

/** How far a dial came that failed. */
export type FailedDial = {
  readonly failure: unknown;
  /** What was known of its era before. */
  readonly known: EraVerdict | undefined;
  readonly wire: Pick<Wire, 'isProcessLike' | 'isProbeUnanswered' | 'lateDiscovery'> | undefined;
};

/** What the server is taken for when it is dialled once more; undefined if that would not help. */
export function redialAs({ failure, known, wire }: FailedDial): EraVerdict | 'unknown' | undefined {
  if (known?.era === 'legacy') return isRefusal(failure) ? 'unknown' : undefined;
  // A server on the network that ignores the probe may answer an older client.
  if (!wire?.isProcessLike) return wire?.isProbeUnanswered && isTimeout(failure) ? LEGACY : undefined;
  // It started so slowly that its answer to the question for its era came after we had gone on.
  if (wire.lateDiscovery) return { era: 'modern', discover: wire.lateDiscovery };
  // It died of the question, or has been odd since.
  return wire.isProbeUnanswered ? LEGACY : undefined;
}

const LEGACY: EraVerdict = { era: 'legacy' };

function isTimeout(failure: unknown): boolean {
  return readFailure(failure).code === 'REQUEST_TIMEOUT';
}

/**
 * Whether the last lines of a process that ended say that it could not start: it gave a reason, and that reason is not
 * about what it was asked. Such a process is not started again at once, since that would only delay the report.
 */
export function isStartFailure(lines: readonly string[]): boolean {
  const said = lines.filter((line) => line.trim() !== '' && !ENDING.test(line));
  return said.length > 0 && !said.some((line) => AFTER_START.some((words) => words.test(line)));
}

/** How the process ended, as the transport notes it. */
const ENDING = /^\((?:exited with code|ended by|it closed)\b.*\)$/;

/** What a server says once it runs, and what it says of a message that it cannot handle. */
const AFTER_START: readonly RegExp[] = [
  /running|listening|serving|started|\bready\b|stdio|stdin/i,
  /discover|initiali[sz]ed|["'`]initialize|handshake|protocol|(?<![.\w])json|rpc|session|clientInfo|capabilit/i,
  /method|request|message|\bparams\b|dispatch|handler|receiv/i,
  /pars(?:e|ing)|serializ|marshal|decod/i,
  /unexpected|unrecogni[sz]|panick|of (?:undefined|null)\b|NoneType/i,
];

/** Whether it answered that it does not want to be spoken to so. */
function isRefusal(failure: unknown): boolean {
  if (isRpcError(failure)) return true;
  const { status = 0 } = readFailure(failure);
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}
