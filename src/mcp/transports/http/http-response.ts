import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { isRecord } from '../../../base/json-value.ts';
import { normalizeLooseMessage } from '../../connection/normalize-message.ts';
import { eventStream } from './event-stream.ts';
import { excerpt, HttpError } from './http-error.ts';

/** The request of a response. */
export type SentRequest = {
  method: string;
  url: string;
  body: string;
  hadSession: boolean;
  signal: AbortSignal | undefined;
};

/** Reads a response completely, unless it is an event stream. Throws if it is unusable. */
export async function readResponse(
  kind: HttpKind,
  request: SentRequest,
  { statusCode: status, statusText, headers: raw, body }: Dispatcher.ResponseData,
  watch: HttpWatch,
): Promise<HttpResponse> {
  const headers = readHeaders(raw);
  const head = { status, statusText, url: request.url, headers };
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === EVENTS && status === 200) {
    return new HttpResponse(head, eventStream(body, streamWatch(request, watch)));
  }
  const whole = await bodyText(body, raw['content-length'], watch.limit, status);
  const isOk = status >= 200 && status < 300;
  const isPlain = isOk && status !== 202 && type === JSON_TYPE && whole !== '' && request.method === 'POST';
  // Other bodies are quoted in error messages.
  const text = isPlain ? whole : watch.mask(whole);
  if (!isPlain) {
    const wantsAnswer = requestIdOf(request.body) !== undefined;
    // Retry-After dates are relative to the server's clock.
    const now = Date.parse(headers.get('date') ?? '');
    const wait = retryAfterMs(headers.get('retry-after') ?? undefined, now);
    const { method, hadSession } = request;
    const wanted = headers.get('www-authenticate');
    const challenge = wanted === null ? undefined : watch.mask(wanted);
    const answer = { method, hadSession, wantsAnswer, status, type, text, retryAfterMs: wait, challenge };
    const error = checkResponse(kind, answer);
    if (error) throw error;
  }
  // The transport puts the whole text of an error response into one message, but parses JSON itself.
  const shown = isOk || type === JSON_TYPE ? text : excerpt(text);
  return new HttpResponse(head, shown, () => parseJsonResponse(text, status, quickRequestIdOf(request.body)));
}

function streamWatch({ method, body, signal }: SentRequest, watch: HttpWatch) {
  return {
    limit: watch.limit,
    onTooLong(seen: number | string | undefined) {
      const id = seen ?? (method === 'POST' ? requestIdOf(body) : undefined);
      watch.onTooLong(id, tooLarge(watch.limit));
      if (id === undefined) return undefined;
      // An error response keeps the transport from requesting the event again.
      const error = { code: -32603, message: 'The response is too large' };
      return `data: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
    },
    onEnd(failure?: unknown) {
      if (!signal?.aborted) watch.onStreamEnd?.(method, failure);
    },
  };
}

/** Fast path for responses with a content length; others are counted while reading. */
async function bodyText(
  body: Dispatcher.ResponseData['body'],
  declared: string | string[] | undefined,
  limit: number,
  status: number,
): Promise<string> {
  const length = Number(declared ?? Number.NaN);
  if (length <= limit) return body.text();
  body.on('error', () => {});
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!(length > limit)) {
    for await (const chunk of body) {
      size += (chunk as Uint8Array).length;
      if (size > limit) break;
      chunks.push(chunk as Uint8Array);
    }
    if (size <= limit) return Buffer.concat(chunks).toString('utf8');
  }
  body.destroy();
  throw tooLarge(limit, status);
}

/** A response, as far as it decides about the request. */
export type ResponseFacts = {
  method: string;
  /** Whether the POST body was a request, which needs a response. */
  wantsAnswer: boolean;
  hadSession: boolean;
  status: number;
  /** The media type in lower case; empty if there is none. */
  type: string;
  text: string;
  retryAfterMs?: number | undefined;
  /** The `WWW-Authenticate` header. */
  challenge?: string | undefined;
};

/** Streamable HTTP, where some error statuses are part of the protocol, or HTTP with SSE. */
export type HttpKind = 'streamable' | 'sse';

/** Why a response is unusable; undefined if the official transport can handle it. */
export function checkResponse(kind: HttpKind, answer: ResponseFacts): HttpError | undefined {
  const { method, status, type } = answer;
  if (method === 'DELETE') return undefined;
  if (status < 200 || status >= 300) return isForTransport(kind, answer) ? undefined : refusal(answer);
  if (method === 'GET')
    return type === EVENTS && status === 200 ? undefined : unusableResponse(answer, EVENTS);
  if (kind === 'sse' || !answer.wantsAnswer) return undefined;
  if (status !== 202 && (type === EVENTS || (type === JSON_TYPE && answer.text.trim() !== '')))
    return undefined;
  return unusableResponse(answer, JSON_TYPE);
}

/** Parses and normalizes a JSON response; throws if it is not a response to the request. */
export function parseJsonResponse(
  text: string,
  status: number,
  id: number | string | undefined,
): JSONRPCMessage | JSONRPCMessage[] {
  const fail = (why: string, cause?: unknown) =>
    new HttpError(`the server answered with HTTP ${status}, but ${why}`, {
      code: 'bad-answer',
      status,
      wasSent: true,
      cause,
    });
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw fail('the body is not valid JSON; check "url"', cause);
  }
  if (Array.isArray(data)) {
    const batch = data.map(normalizeLooseMessage).filter((it) => it !== undefined);
    if (batch.some((it) => !('method' in it) && isAnswerTo(it.id, id))) return batch;
    throw fail('the batch contains no response to the request; report this to the author of the server');
  }
  const { id: own, method, result, error } = Object(data) as Record<string, unknown>;
  const hasAnswer = method === undefined && (result !== undefined || error !== undefined);
  if (hasAnswer && !isAnswerTo(own, id)) {
    const ids = `${formatId(own)} instead of ${formatId(id)}`;
    throw fail(`the response is for another request (${ids}); report this to the author of the server`);
  }
  const message = normalizeLooseMessage(data);
  if (message === undefined) throw fail('the body is not a JSON-RPC message; check "url"');
  if ('method' in message) throw fail('the body is not a response to the request; check "url"');
  return message;
}

/** Some servers return numeric ids as strings. */
function isAnswerTo(own: unknown, id: number | string | undefined): boolean {
  return id === undefined || ((typeof own === 'number' || typeof own === 'string') && `${own}` === `${id}`);
}

function formatId(id: unknown): string {
  return typeof id === 'number' || typeof id === 'string' ? `id ${JSON.stringify(id).slice(0, 50)}` : 'no id';
}

/** The error for an oversized message. */
function tooLarge(limit: number, status?: number): HttpError {
  const message = `the server sent a message of more than ${limit} bytes; raise "maxFrameBytes" in its entry to accept it`;
  return new HttpError(message, {
    code: 'too-large',
    wasSent: true,
    ...(status !== undefined && { status }),
  });
}

const EVENTS = 'text/event-stream';
const JSON_TYPE = 'application/json';

/** Statuses that the transport itself handles: protocol eras, missing streams and authorization. */
function isForTransport(kind: HttpKind, { method, status, hadSession }: ResponseFacts): boolean {
  if (kind === 'sse') return false;
  if (status === 401 || status === 405) return true;
  // A 403 is handled here, because the transport drops its body and headers.
  if (status === 403) return method !== 'POST';
  return (status === 400 || status === 404) && method === 'POST' && !hadSession;
}

function refusal(answer: ResponseFacts): HttpError {
  const { method, status, type, text, retryAfterMs, hadSession, challenge } = answer;
  const again = retryAfterMs === undefined ? '' : ` (Retry-After: ${Math.ceil(retryAfterMs / 1000)} s)`;
  const bodyText = type.includes('html') ? '' : excerpt(text);
  return new HttpError(
    `the server answered with HTTP ${status}${again}${bodyText === '' ? '' : `: ${bodyText}`}`,
    {
      code: 'http-status',
      status,
      wasSent: true,
      hadSession: hadSession && method === 'POST',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(type === JSON_TYPE && { text }),
      reason: type.includes('html') ? excerpt(text) : text,
      ...(challenge !== undefined && { challenge }),
    },
  );
}

function unusableResponse({ status, type, text, hadSession }: ResponseFacts, wanted: string): HttpError {
  const what = text === '' || status === 202 || status === 204 ? 'an empty body' : type || 'no content type';
  const bodyText = excerpt(text);
  const message = `the server answered with HTTP ${status} with ${what} instead of ${wanted}${bodyText === '' ? '' : ` ("${bodyText}")`}; check "url"`;
  return new HttpError(message, { code: 'bad-answer', status, wasSent: true, hadSession });
}

/** Headers as the official transports read them. */
type ReadHeaders = { get(name: string): string | null; has(name: string): boolean };

/** The part of a fetch `Response` that the official transports use, at lower cost. */
export class HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: ReadHeaders;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly redirected = false;
  readonly type = 'basic';
  readonly #text: string;
  readonly #json: (() => unknown) | undefined;

  /** `content` is the complete text, or a stream. */
  constructor(
    head: { status: number; statusText: string; url: string; headers: ReadHeaders },
    content: string | ReadableStream<Uint8Array>,
    json?: () => unknown,
  ) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.url = head.url;
    this.headers = head.headers;
    this.body = typeof content === 'string' ? null : content;
    this.#text = typeof content === 'string' ? content : '';
    this.#json = json;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** A stream has no text; an unread stream is cancelled. */
  async text(): Promise<string> {
    await this.body?.cancel();
    return this.#text;
  }

  async json(): Promise<unknown> {
    return this.#json === undefined ? JSON.parse(this.#text) : this.#json();
  }
}

/** A view of undici's headers: lower-case names, lists for repeated headers. */
function readHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): ReadHeaders {
  const get = (name: string) => {
    const value = raw[name.toLowerCase()];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  };
  return { get, has: (name) => raw[name.toLowerCase()] !== undefined };
}

/** Options and listeners for responses. */
export type HttpWatch = {
  /** Maximum size of a message, in bytes. */
  limit: number;
  /** Masks credentials in text of the server that is not a protocol message. */
  mask(text: string): string;
  /** Called for a dropped message, with the id of its request if known. */
  onTooLong(id: number | string | undefined, error: HttpError): void;
  /** An event stream ended without being cancelled by us. */
  onStreamEnd?(method: string, failure?: unknown): void;
};

/** The id of the request in a body; undefined if the body is not a single request. */
export function requestIdOf(body: string): number | string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isRecord(message) || typeof message.method !== 'string') return undefined;
  const { id } = message;
  return typeof id === 'number' || typeof id === 'string' ? id : undefined;
}

/** Like `requestIdOf`, for the body of a known request: we write the id second, the official client last. */
export function quickRequestIdOf(body: string): number | string | undefined {
  const quick = /^\{"jsonrpc":"2\.0","id":(\d+),/.exec(body) ?? /,"id":(\d+)\}$/.exec(body.slice(-32));
  return quick?.[1] === undefined ? requestIdOf(body) : Number(quick[1]);
}
/**
 * The delay of a `Retry-After` header in milliseconds: seconds, or a date. Undefined for anything else, and for a date if
 * the time is unknown.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000;
  // Checked first, because `Date.parse` accepts many other texts.
  const at = /^[A-Za-z]{3,9},? /.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at - now) ? undefined : Math.max(0, at - now);
}
