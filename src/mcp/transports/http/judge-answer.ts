import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { tidyLoose } from '../../connection/tidy-message.ts';
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
  /** The `WWW-Authenticate` header: how the server wants to be authorized. */
  challenge?: string | undefined;
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

/** Reads an answer in JSON as the official client takes it; throws the fault of one that is no answer to the request. */
export function readJsonAnswer(
  text: string,
  status: number,
  id: number | string | undefined,
): JSONRPCMessage | JSONRPCMessage[] {
  const fail = (why: string, cause?: unknown) =>
    new HttpFault(`it answered ${status}, but ${why}`, { code: 'bad-answer', status, wasSent: true, cause });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw fail('its JSON is broken', cause);
  }
  if (Array.isArray(data)) {
    const batch = data.map(tidyLoose).filter((it) => it !== undefined);
    if (batch.some((it) => !('method' in it) && isAnswerTo(it.id, id))) return batch;
    throw fail('no answer to the request is in the list it sent');
  }
  const { id: own, method, result, error } = Object(data) as Record<string, unknown>;
  const hasAnswer = method === undefined && (result !== undefined || error !== undefined);
  if (hasAnswer && !isAnswerTo(own, id)) {
    throw fail(`to another request (${sayId(own)} instead of ${sayId(id)})`);
  }
  const message = tidyLoose(data);
  if (message === undefined) throw fail('what it sent is no JSON-RPC message; check "url"');
  if ('method' in message) throw fail('what it sent is no answer to the request; check "url"');
  return message;
}

/** Some give numbers back as text. */
function isAnswerTo(own: unknown, id: number | string | undefined): boolean {
  return id === undefined || ((typeof own === 'number' || typeof own === 'string') && `${own}` === `${id}`);
}

function sayId(id: unknown): string {
  return typeof id === 'number' || typeof id === 'string' ? JSON.stringify(id).slice(0, 50) : 'no id';
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
  if (status === 401 || status === 405) return true;
  // Why a request was forbidden is in its body and headers, which the transport does not pass on.
  if (status === 403) return method !== 'POST';
  return (status === 400 || status === 404) && method === 'POST' && !hadSession;
}

function refusal(answer: Answer): HttpFault {
  const { method, status, type, text, retryAfterMs, hadSession, challenge } = answer;
  const again = retryAfterMs === undefined ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
  const said = type.includes('html') ? '' : excerpt(text);
  return new HttpFault(`it answered ${status}${again}${said === '' ? '' : `: ${said}`}`, {
    code: 'http-status',
    status,
    wasSent: true,
    hadSession: hadSession && method === 'POST',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(type === JSON_TYPE && { text }),
    reason: type.includes('html') ? excerpt(text) : text,
    ...(challenge !== undefined && { challenge }),
  });
}

function useless({ status, type, text, hadSession }: Answer, wanted: string): HttpFault {
  const what = text === '' || status === 202 || status === 204 ? 'nothing' : type || 'something untyped';
  const said = excerpt(text);
  const message = `it answered ${status} with ${what} instead of ${wanted}${said === '' ? '' : ` ("${said}")`}; check "url"`;
  return new HttpFault(message, { code: 'bad-answer', status, wasSent: true, hadSession });
}
