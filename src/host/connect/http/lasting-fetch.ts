import { HttpFault } from './http-fault.ts';
import { HttpResponse } from './http-response.ts';
import { lastingStream } from './lasting-stream.ts';

/**
 * A `fetch` by which the stream beside the requests, once it is open, is kept open: the official transport gives it up
 * after some tries, and would be deaf from then on. A stream that goes on with one request's answer is left alone.
 */
export function lastingFetch(inner: typeof fetch, onTrouble: (fault: unknown) => void): typeof fetch {
  const openLasting = async (input: Parameters<typeof fetch>[0], init: RequestInit) => {
    const headers = new Headers(init.headers);
    const response = await inner(input, init);
    if (response.status !== 200 || response.body === null || headers.has(LAST_EVENT)) return response;
    const open = async (lastEventId: string | undefined) => {
      if (lastEventId !== undefined) headers.set(LAST_EVENT, lastEventId);
      const { status, body } = await inner(input, { ...init, headers });
      if (status === 200 && body !== null) return body;
      if (status === 405) return 'over';
      const message = `it answered ${status} instead of opening its stream again`;
      throw new HttpFault(message, { code: 'http-status', status, wasSent: true });
    };
    const lasting = { open, onTrouble, signal: init.signal ?? undefined };
    return new HttpResponse(response, lastingStream(response.body, lasting)) as unknown as Response;
  };
  return (input, init) => (init?.method === 'GET' ? openLasting(input, init) : inner(input, init));
}

const LAST_EVENT = 'last-event-id';
