import { excerpt, HttpFault } from './http-fault.ts';

/** One answer of a server, as far as it decides what becomes of the request. */
export type Answer = {
  method: string;
  /** Whether the body of a POST was a request, which wants an answer. */
  wantsAnswer: boolean;
  hadSession: boolean;
  status: number;
  /** The media type alone, in lower case; empty if the server named none. */
  type: string;
  text: string;
  retryAfterMs?: number | undefined;
};

/** Streamable HTTP, where some refusals are part of the protocol, or the older one with a stream beside. */
export type HttpKind = 'streamable' | 'sse';

/** Why an answer is of no use; undefined for one the official transport can go on with. */
export function judgeAnswer(kind: HttpKind, answer: Answer): HttpFault | undefined {
  const { method, status, type } = answer;
  if (method === 'DELETE') return undefined;
  if (status < 200 || status >= 300) return isForTransport(kind, answer) ? undefined : refusal(answer);
  if (method === 'GET') return type === EVENTS && status === 200 ? undefined : useless(answer, EVENTS);
  if (kind === 'sse' || !answer.wantsAnswer) return undefined;
  if (status !== 202 && (type === EVENTS || (type === JSON_TYPE && answer.text.trim() !== '')))
    return undefined;
  return useless(answer, JSON_TYPE);
}

/** Reads an answer in JSON; throws the fault of one that is no answer to the request. */
export function readJsonAnswer(text: string, status: number, id: number | string | undefined): unknown {
  const fail = (why: string, cause?: unknown) =>
    new HttpFault(`it answered ${status}, but ${why}`, { code: 'bad-answer', status, wasSent: true, cause });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw fail('its JSON is broken', cause);
  }
  if (Array.isArray(data)) return data;
  const { jsonrpc, id: own, method } = Object(data) as Record<string, unknown>;
  if (jsonrpc !== '2.0') throw fail('what it sent is no JSON-RPC message; check "url"');
  if (method === undefined && id !== undefined && String(own) !== String(id)) {
    throw fail(`to another request (${JSON.stringify(own) ?? 'no id'} instead of ${JSON.stringify(id)})`);
  }
  return data;
}

/** What is said of a message that is longer than taken. */
export function tooLarge(limit: number, status?: number): HttpFault {
  const message = `it sent a message of more than ${limit} bytes; raise "maxFrameBytes" of its entry to take it`;
  return new HttpFault(message, {
    code: 'too-large',
    wasSent: true,
    ...(status !== undefined && { status }),
  });
}

export const EVENTS = 'text/event-stream';
export const JSON_TYPE = 'application/json';

/** What the transport reads eras, missing streams and authorization from. */
function isForTransport(kind: HttpKind, { method, status, hadSession }: Answer): boolean {
  if (kind === 'sse') return false;
  if (status === 401 || status === 403 || status === 405) return true;
  return (status === 400 || status === 404) && method === 'POST' && !hadSession;
}

function refusal({ method, status, type, text, retryAfterMs, hadSession }: Answer): HttpFault {
  const again = retryAfterMs === undefined ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  const said = type.includes('html') ? '' : excerpt(text);
  return new HttpFault(`it answered ${status}${again}${said === '' ? '' : `: ${said}`}`, {
    code: 'http-status',
    status,
    wasSent: true,
    hadSession: hadSession && method === 'POST',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(type === JSON_TYPE && { text }),
  });
}

function useless({ status, type, text, hadSession }: Answer, wanted: string): HttpFault {
  const what = text === '' || status === 202 || status === 204 ? 'nothing' : type || 'something untyped';
  const said = excerpt(text);
  const message = `it answered ${status} with ${what} instead of ${wanted}${said === '' ? '' : ` ("${said}")`}; check "url"`;
  return new HttpFault(message, { code: 'bad-answer', status, wasSent: true, hadSession });
}
