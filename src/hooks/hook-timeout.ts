import { startTimer } from '../base/async/timers.ts';
import type { RegisteredHook } from './match-hooks.ts';

const DEFAULT_TIMEOUT_MS = 60_000;

/** Ends the wait at the timeout or abort, even if the work ignores its signal. */
export async function withHookTimeout<T>(
  hook: RegisteredHook,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new Error('interrupted before the hook ran');
  const controller = new AbortController();
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const end = (message: string) => {
    reject(new Error(message));
    controller.abort();
  };
  const onAbort = () => end('interrupted while the hook ran');
  const limit = hook.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timer = startTimer(limit, () =>
    end(`timed out after ${limit} ms; raise its "timeout" if it may take longer`),
  );
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), cut]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
