import { setTimeout as delay } from 'node:timers/promises';

type Bytes = ReadableStream<Uint8Array>;

/** What a stream that lasts needs of its surroundings. */
export type Lasting = {
  /** Opens the next one, from after the event with that id; `over` is a server that has none any more. */
  open(lastEventId: string | undefined): Promise<Bytes | 'over'>;
  /** Hears why one broke or could not be opened. */
  onTrouble(fault: unknown): void;
  signal: AbortSignal | undefined;
  /** The first pause, and what it grows to. */
  pause?: { firstMs: number; longestMs: number };
};

const PAUSE = { firstMs: 1000, longestMs: 30_000 };
/** A stream that lasted so long was a good one: the next is opened soon. */
const GOOD_MS = 10_000;
/** What was said meanwhile is lost, so whatever is listed has to be listed anew. */
const GAP = Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');

/** Streams of whole events as one that does not end: another is opened after each, for as long as it takes. */
export function lastingStream(first: Bytes, { open, onTrouble, signal, pause = PAUSE }: Lasting): Bytes {
  const left = new AbortController();
  const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  let reader = first.getReader();
  let openedAt = performance.now();
  let failures = 0;
  let lastEventId: string | undefined;
  let askedMs: number | undefined;
  const note = (event: Uint8Array) => {
    const text = Buffer.from(event).toString();
    lastEventId = /^id: ?(.+)$/m.exec(text)?.[1]?.trim() ?? lastEventId;
    const retry = /^retry: ?(\d+)\s*$/m.exec(text)?.[1];
    if (retry !== undefined) askedMs = Number(retry);
  };
  const reopen = async (): Promise<Bytes | 'over'> => {
    for (;;) {
      const firstMs = askedMs ?? pause.firstMs;
      const ms = Math.min(firstMs * 2 ** failures++, Math.max(firstMs, pause.longestMs));
      await delay(ms, undefined, { signal: ended, ref: false });
      try {
        return await open(lastEventId);
      } catch (fault) {
        if (ended.aborted) throw fault;
        onTrouble(fault);
      }
    }
  };
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await reader.read();
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
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
