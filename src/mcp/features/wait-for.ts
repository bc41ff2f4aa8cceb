import { startTimer } from '../../base/timer.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import type { Asking, Left } from './asking.ts';
import { lateFault } from './feature-fault.ts';

/** Work that others wait for too: who gives up leaves it running. Rejects as the work does, or as a call that was given up. */
export async function waitFor<T>(work: Promise<T>, asking: Asking, { timeoutMs, signal }: Left): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new AbortError('The request was aborted', { cause: signal?.reason }));
  const timer = startTimer(timeoutMs, () => reject(lateFault(asking)));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
