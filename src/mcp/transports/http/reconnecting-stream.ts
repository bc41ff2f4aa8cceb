import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../base/async/timers.ts';
import { HttpError } from './http-error.ts';
import { HttpResponse } from './http-response.ts';

/**
 * A `fetch` that keeps the server's notification stream open, or opens it later: the official transport gives up after a
 * few attempts and would miss all later notifications. Streams that resume a response are left alone.
 */
export function reconnectingFetch(
  inner: typeof fetch,
  onError: (error: unknown) => void,
  pause?: ReconnectDelay,
): typeof fetch {
  const openLasting = async (input: Parameters<typeof fetch>[0], init: RequestInit) => {
    const own = new Headers(init.headers);
    if (own.has(LAST_EVENT)) return inner(input, init);
    const open = async (lastEventId: string | undefined) => {
      const headers = new Headers(own);
      if (lastEventId !== undefined) headers.set(LAST_EVENT, lastEventId);
      const { status, body } = await inner(input, { ...init, headers });
      if (status === 200 && body !== null) return body;
      if (status === 405) return 'over';
      throw unopened(status);
    };
    const options = { open, onError, signal: init.signal ?? undefined, ...(pause && { pause }) };
    try {
      const response = await inner(input, init);
      const { status, body } = response;
      if (FOR_TRANSPORT.has(status)) return response;
      if (status !== 200 || body === null) throw unopened(status);
      return new HttpResponse(response, reconnectingStream(body, options)) as unknown as Response;
    } catch (error) {
      if (init.signal?.aborted) throw error;
      onError(error);
      const head = { status: 200, statusText: 'OK', url: String(input), headers: new Headers() };
      return new HttpResponse(head, reconnectingStream(undefined, options)) as unknown as Response;
    }
  };
  return (input, init) => (init?.method === 'GET' ? openLasting(input, init) : inner(input, init));
}

function unopened(status: number): HttpError {
  const message = `the server answered with HTTP ${status} instead of opening the event stream`;
  return new HttpError(message, { code: 'http-status', status, wasSent: true });
}

const LAST_EVENT = 'last-event-id';
/** Unauthorized requests, and servers without a stream, some of which do not use status 405. */
const FOR_TRANSPORT: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);

type Bytes = ReadableStream<Uint8Array>;

/** Dependencies of a lasting stream. */
export type ReconnectOptions = {
  /** Opens the next stream after the event with that id; `over` means that the server no longer has one. */
  open(lastEventId: string | undefined): Promise<Bytes | 'over'>;
  /** Called when a stream breaks or cannot be opened. */
  onError(error: unknown): void;
  signal: AbortSignal | undefined;
  pause?: ReconnectDelay;
};

/** A stream that lasted this long resets the backoff. */
const STABLE_MS = 10_000;
/** Inserted after a gap, so that all lists are read again; servers do not send this method. */
const GAP = Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/list_changed"}\n\n');

/**
 * Joins event streams into one that does not end: after each stream another one is opened. Without a first stream, the
 * first one is opened later.
 */
export function reconnectingStream(first: Bytes | undefined, options: ReconnectOptions): Bytes {
  const { open, onError, signal, pause = RECONNECT_DELAY } = options;
  const left = new AbortController();
  const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  let reader = first?.getReader();
  let openedAt = performance.now();
  let failures = 0;
  let lastEventId: string | undefined;
  let askedMs: number | undefined;
  const note = (event: Uint8Array) => {
    const text = Buffer.from(event).toString();
    lastEventId = lastEventIdAfter(text, lastEventId);
    askedMs = retryFieldOf(text) ?? askedMs;
  };
  const reopen = async (): Promise<Bytes | 'over'> => {
    for (;;) {
      await delay(reconnectDelayMs(askedMs, failures++, pause), undefined, { signal: ended, ref: false });
      try {
        return await open(lastEventId);
      } catch (error) {
        if (ended.aborted) throw error;
        if (mayBeCausedById(error)) lastEventId = undefined;
        onError(error);
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
    } catch (error) {
      if (ended.aborted) throw error;
      onError(error);
    }
    if (performance.now() - openedAt > STABLE_MS) failures = 0;
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

/** The last event id in these events; undefined if it cannot be sent as a header, since an older id would repeat events. */
export function lastEventIdAfter(events: string, before: string | undefined): string | undefined {
  const id = [...events.matchAll(ID)].at(-1)?.[1]?.trim();
  if (id === undefined) return before;
  return FITS_HEADER.test(id) ? id : undefined;
}

/**
 * Whether a stream may have failed because of its last event id. An unreachable or unready server says nothing about it;
 * some servers answer 500 if they cannot find the event.
 */
export function mayBeCausedById(error: unknown): boolean {
  if (!(error instanceof HttpError)) return true;
  return error.wasSent && (error.status ?? 0) <= 500;
}

const ID = /(?<=^|[\r\n])id: ?([^\r\n]*)/g;
const FITS_HEADER = /^[\t\x20-\x7e\x80-\xff]+$/;
/** The first and the maximum delay before a stream is reopened. */
type ReconnectDelay = { firstMs: number; maxMs: number };

export const RECONNECT_DELAY: ReconnectDelay = { firstMs: 1000, maxMs: 30_000 };

/** The delay after this many failures; a server may set the first one within bounds. */
export function reconnectDelayMs(
  askedMs: number | undefined,
  failures: number,
  { firstMs, maxMs }: ReconnectDelay,
): number {
  // A delay of 0 would not grow, and one that is too long for a timer would fire at once.
  const first = Math.min(Math.max(askedMs ?? firstMs, firstMs), maxMs);
  return backoffMs({ firstMs: first, maxMs }, failures + 1);
}

/** The `retry` delay of the last of these events. */
export function retryFieldOf(events: string): number | undefined {
  const retry = [...events.matchAll(RETRY)].at(-1)?.[1];
  return retry === undefined ? undefined : Number(retry);
}

const RETRY = /(?<=^|[\r\n])retry: ?(\d+)[ \t]*(?=[\r\n]|$)/g;
