import { setTimeout as delay } from 'node:timers/promises';
import { idAfter, mayBlameId } from './lasting-id.ts';
import { LASTING_PAUSE, type LastingPause, pauseMs, retryOf } from './lasting-pause.ts';

type Bytes = ReadableStream<Uint8Array>;

/** What a stream that lasts needs of its surroundings. */
export type Lasting = {
  /** Opens the next one, from after the event with that id; `over` is a server that has none any more. */
  open(lastEventId: string | undefined): Promise<Bytes | 'over'>;
  /** Hears why one broke or could not be opened. */
  onTrouble(fault: unknown): void;
  signal: AbortSignal | undefined;
  pause?: LastingPause;
};

/** A stream that lasted so long was a good one: the next is opened soon. */
const GOOD_MS = 10_000;
/** What was said meanwhile is lost, so whatever is listed has to be listed anew; no server says this. */
const GAP = Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/list_changed"}\n\n');

/**
 * Streams of whole events as one that does not end: another is opened after each, for as long as it takes. Without a
 * first one, it is yet to open.
 */
export function lastingStream(first: Bytes | undefined, lasting: Lasting): Bytes {
  const { open, onTrouble, signal, pause = LASTING_PAUSE } = lasting;
  const left = new AbortController();
  const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  let reader = first?.getReader();
  let openedAt = performance.now();
  let failures = 0;
  let lastEventId: string | undefined;
  let askedMs: number | undefined;
  const note = (event: Uint8Array) => {
    const text = Buffer.from(event).toString();
    lastEventId = idAfter(text, lastEventId);
    askedMs = retryOf(text) ?? askedMs;
  };
  const reopen = async (): Promise<Bytes | 'over'> => {
    for (;;) {
      await delay(pauseMs(askedMs, failures++, pause), undefined, { signal: ended, ref: false });
      try {
        return await open(lastEventId);
      } catch (fault) {
        if (ended.aborted) throw fault;
        if (mayBlameId(fault)) lastEventId = undefined;
        onTrouble(fault);
      }
    }
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (!done) {
        note(value);
        return controller.enqueue(value);
      }
    } catch (fault) {
      if (ended.aborted) throw fault;
      onTrouble(fault);
    }
    if (performance.now() - openedAt > GOOD_MS) failures = 0;
    const next = await reopen();
    if (next === 'over') return controller.close();
    reader = next.getReader();
    openedAt = performance.now();
    controller.enqueue(GAP);
  };
  return new ReadableStream<Uint8Array>(
    {
      pull,
      async cancel(reason) {
        left.abort();
        await reader?.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
