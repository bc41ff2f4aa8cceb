import type { Readable } from 'node:stream';
import { EventCap } from './event-cap.ts';
import { networkFault } from './http-fault.ts';
import { tidyEvent } from './tidy-event.ts';

/** What becomes of a stream of events. */
export type EventStreamWatch = {
  /** The longest event taken, in bytes. */
  limit: number;
  /** Hears of an event that was dropped; what it gives takes the event's place. */
  onTooLong(id: number | string | undefined): string | undefined;
  /** Hears that the stream is over; not if we left it. */
  onEnd?(failure?: unknown): void;
};

/**
 * The body of an answer as the stream the official transports read: without the events that are too long, and with
 * messages put right.
 */
export function eventStream(body: Readable, watch: EventStreamWatch): ReadableStream<Uint8Array> {
  const instead: Uint8Array[] = [];
  const cap = new EventCap(watch.limit, (id) => {
    const text = watch.onTooLong(id);
    if (text !== undefined) instead.push(Buffer.from(text));
  });
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let isLeft = false;
  body.on('error', () => {});
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (;;) {
      const { done, value } = await chunks.next();
      const passed = done ? cap.flush() : cap.feed(value).map(tidyEvent);
      for (const part of [...passed, ...instead.splice(0)]) controller.enqueue(part);
      if (done) controller.close();
      if (done) watch.onEnd?.();
      if (done || passed.length > 0) return;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        next(controller).catch((failure: unknown) => {
          const fault = networkFault(failure);
          if (!isLeft) controller.error(fault);
          if (!isLeft) watch.onEnd?.(fault);
        }),
      cancel() {
        isLeft = true;
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
