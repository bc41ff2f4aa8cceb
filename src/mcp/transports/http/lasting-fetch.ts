import { HttpFault } from './http-fault.ts';
import { HttpResponse } from './http-response.ts';
import type { LastingPause } from './lasting-pause.ts';
import { lastingStream } from './lasting-stream.ts';

/**
 * A `fetch` by which the stream beside the requests is kept open, or opened later if it cannot be yet: the official
 * transport gives it up after some tries, or after the first, and would be deaf from then on. A stream that goes on with
 * one request's answer is left alone.
 */
export function lastingFetch(
  inner: typeof fetch,
  onTrouble: (fault: unknown) => void,
  pause?: LastingPause,
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
    const lasting = { open, onTrouble, signal: init.signal ?? undefined, ...(pause && { pause }) };
    try {
      const response = await inner(input, init);
      const { status, body } = response;
      if (FOR_TRANSPORT.has(status)) return response;
      if (status !== 200 || body === null) throw unopened(status);
      return new HttpResponse(response, lastingStream(body, lasting)) as unknown as Response;
    } catch (fault) {
      if (init.signal?.aborted) throw fault;
      onTrouble(fault);
      const head = { status: 200, statusText: 'OK', url: String(input), headers: new Headers() };
      return new HttpResponse(head, lastingStream(undefined, lasting)) as unknown as Response;
    }
  };
  return (input, init) => (init?.method === 'GET' ? openLasting(input, init) : inner(input, init));
}

function unopened(status: number): HttpFault {
  const message = `it answered ${status} instead of opening its stream`;
  return new HttpFault(message, { code: 'http-status', status, wasSent: true });
}

const LAST_EVENT = 'last-event-id';
/** Who may not come in, and servers that have no stream: not all of them know the status for that. */
const FOR_TRANSPORT: ReadonlySet<number> = new Set([401, 403, 404, 405, 501]);
