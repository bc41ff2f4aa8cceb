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
  if (!wire?.isProcessLike) return undefined;
  // It started so slowly that its answer to the question for its era came after we had gone on.
  if (wire.lateDiscovery) return { era: 'modern', discover: wire.lateDiscovery };
  // It died of the question, or has been odd since.
  return wire.isProbeUnanswered ? { era: 'legacy' } : undefined;
}

/** Whether it answered that it does not want to be spoken to so. */
function isRefusal(failure: unknown): boolean {
  if (isRpcError(failure)) return true;
  const { status = 0 } = readFailure(failure);
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}
