import { isRecord } from '../../base/json-value.ts';
import { redactText } from '../../base/text/redact.ts';
import { isLoopback } from '../../mcp/transports/http/proxy.ts';
import type { SDKAssistantMessageError } from '../../protocol/system-message.ts';
import { ModelError, type ModelErrorCode } from './model.ts';

/** Errors inside a stream have a type and no status; this is the status each would have had. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const TOO_LONG =
  /prompt is too long|context[_ ](length|window)|maximum context|exceeds? the (available )?context|too many (input )?tokens/i;

/** Texts and error types of rejected images; Anthropic names the position of the image in the request. */
const BAD_IMAGE =
  /could not process image|\.image\.source\b|(unsupported|invalid)[ _]image|image (exceeds|does not match)|image dimensions|valid image|image_parse_error|(invalid|unsupported|download).{0,40}image_url|image_url.{0,40}(invalid|unsupported|not supported|download)/i;

/** Texts about a tool or a text of the request, which may mention images. */
const NOT_ABOUT_IMAGE = /^tools\.|\.\d+\.text\b/;

const CONNECTION_LOST =
  /^(terminated|fetch failed|connection error\.?|request timed out\.?|socket hang up|other side closed|premature close)$/i;

/** Converts an error of a client library; `now` is for a Retry-After that is a date. */
export function toModelError(thrown: unknown, endpoint: ModelEndpoint, now: number): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const fields = isRecord(thrown) ? thrown : {};
  const types = [fields.type, fields.code, ...errorTypes(fields.error)].filter(
    (type) => typeof type === 'string',
  );
  const given = typeof fields.status === 'number' ? fields.status : undefined;
  const status = given ?? types.map((type) => STATUS_OF_TYPE[type]).find((known) => known !== undefined);
  const message = withoutUserInfo(thrown instanceof Error ? thrown.message : String(thrown));
  const detail = bodyMessage(fields.error) ?? message;
  const code = status === undefined ? codeWithoutStatus(thrown) : codeOf(status, types, message, detail);
  if (code === 'unreachable' && status === undefined) return unreachableError(thrown, endpoint);
  const url = shownUrl(endpoint.url);
  const type = bodyError(fields.error).type;
  return new ModelError(code, redactText(`${SUMMARY[code]} (${url}): ${message}`), {
    status,
    endpoint: url,
    detail: redactText(withoutUserInfo(detail)),
    ...(typeof type === 'string' && { type }),
    retryAfterMs: retryAfterMs(fields.headers, now),
    cause: thrown,
  });
}

/** The error of a reply that has begun but cannot be read to its end; errors that the endpoint sent are kept. */
export function brokenReplyError(thrown: unknown, endpoint: ModelEndpoint, now: number): ModelError {
  if (isRecord(thrown) && (thrown.status !== undefined || isRecord(thrown.error)))
    return toModelError(thrown, endpoint, now);
  const { message: _, ...details } = describeUnreachable(thrown, endpoint);
  const message = `The reply of ${details.endpoint} was cut off (${details.reason}); check the server and the network`;
  return new ModelError('broken-reply', message, { ...details, retryLimit: undefined, cause: thrown });
}

function unreachableError(cause: unknown, endpoint: ModelEndpoint): ModelError {
  const { message, ...details } = describeUnreachable(cause, endpoint);
  return new ModelError('unreachable', message, { ...details, cause });
}

const SUMMARY: Readonly<Record<ModelErrorCode, string>> = {
  overloaded: 'The model is overloaded',
  'rate-limited': 'The rate limit of the model endpoint is exceeded',
  unauthorized:
    'The model endpoint rejected the API key; check the key and whether its account may use the model',
  'bad-request': 'The model endpoint rejected the request',
  'bad-image': 'The model endpoint cannot process an image in the request',
  'too-long': 'The conversation is too long for the model',
  unreachable: 'The endpoint timed out while receiving the request',
  'broken-reply': 'The reply was cut off',
  'reply-limit': 'The reply reached a limit',
  refused: 'The model refused to reply',
  failed: 'The model endpoint failed',
};

/** What is reported to programs about a failed model request, in the terms of the official messages. */
export type ApiFailure = {
  /** The text of the result; the first words are those by which programs recognize the kind of failure. */
  readonly text: string;
  readonly error: SDKAssistantMessageError;
  readonly terminalReason: 'api_error' | 'prompt_too_long' | 'image_error';
};

/** Programs recognize removed images by this text of the official package. */
export const IMAGE_REMOVED =
  'API Error: an image in the conversation could not be processed and was removed. Re-read the file with a different approach if you still need it.';

const CREDIT = /credit balance is too low/i;

/** Describes a failed request to a program; `model` is the name of the requested model. */
export function describeFailure(failure: ModelError, model: string): ApiFailure {
  const { code, status, message, endpoint, detail = message } = failure;
  const where = endpoint === undefined ? '' : ` (${endpoint})`;
  const described = (
    text: string,
    error: SDKAssistantMessageError,
    terminalReason: ApiFailure['terminalReason'] = 'api_error',
  ): ApiFailure => ({ text, error, terminalReason });
  if (CREDIT.test(detail)) return described(`Credit balance is too low · ${detail}`, 'billing_error');
  if (status === 413) return described(`Request too large · ${detail}`, 'invalid_request', 'image_error');
  if (code === 'bad-image') return described(IMAGE_REMOVED, 'invalid_request', 'image_error');
  if (code === 'too-long')
    return described(`Prompt is too long · ${detail}`, 'invalid_request', 'prompt_too_long');
  if (code === 'reply-limit') return described(`API Error: ${message}`, 'max_output_tokens');
  if (code === 'refused') return described(`API Error: ${message}`, 'invalid_request');
  if (code === 'unauthorized') {
    if (status === undefined) return described(message, 'authentication_failed');
    const text = status === 401 ? 'Invalid API key · ' : `Failed to authenticate. API Error: ${status} `;
    return described(`${text}${detail}${status === 401 ? where : ''}`, 'authentication_failed');
  }
  if (status === 404)
    return described(
      `There's an issue with the selected model (${model}) · ${detail}${where}`,
      'model_not_found',
    );
  if (status === 429) return described(`API Error: Request rejected (429) · ${detail}`, 'rate_limit');
  if (status !== undefined && status < 500) return described(`API Error: ${status} ${detail}`, 'unknown');
  if (status !== undefined) {
    const advice = where && `${where}; try again later`;
    return described(`API Error: ${status} ${detail}${advice}`, 'server_error');
  }
  return described(`API Error: ${message}`, code === 'bad-request' ? 'unknown' : 'server_error');
}

function codeOf(status: number, types: readonly string[], message: string, detail: string): ModelErrorCode {
  // An exhausted quota is a 429, but retries do not help.
  if (types.includes('insufficient_quota')) return 'unauthorized';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  if (status === 503 || status === 529 || types.includes('overloaded_error')) return 'overloaded';
  if (status === 408) return 'unreachable';
  if (status === 413) return 'too-long';
  if (status < 400 || status >= 500) return 'failed';
  if ([message, ...types].some((text) => TOO_LONG.test(text))) return 'too-long';
  if (status === 404 || NOT_ABOUT_IMAGE.test(detail)) return 'bad-request';
  return [detail, ...types].some((text) => BAD_IMAGE.test(text)) ? 'bad-image' : 'bad-request';
}

function codeWithoutStatus(thrown: unknown): ModelErrorCode {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const code = 'code' in error ? error.code : undefined;
    if (CONNECTION_LOST.test(error.message)) return 'unreachable';
    if (typeof code === 'string' && /^(E[A-Z]{3,}|UND_ERR_)/.test(code)) return 'unreachable';
  }
  return 'failed';
}

function errorTypes(body: unknown): unknown[] {
  if (!isRecord(body)) return [];
  const inner = isRecord(body.error) ? body.error : {};
  return [body.type, body.code, inner.type, inner.code];
}

/** The error object of a response: OpenAI clients unwrap it, Anthropic clients do not. */
function bodyError(body: unknown): Record<string, unknown> {
  if (!isRecord(body)) return {};
  return isRecord(body.error) ? body.error : body;
}

function bodyMessage(body: unknown): string | undefined {
  const { message } = bodyError(body);
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function retryAfterMs(headers: unknown, now: number): number | undefined {
  if (!(headers instanceof Headers)) return undefined;
  const ms = headers.get('retry-after-ms');
  if (ms !== null && Number.isFinite(Number(ms))) return Math.max(0, Number(ms));
  const after = headers.get('retry-after');
  if (after === null) return undefined;
  if (Number.isFinite(Number(after))) return Math.max(0, Number(after) * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Where model requests go, the variable that sets it, and how long a response may take to begin. */
export type ModelEndpoint = {
  readonly url: string;
  readonly variable: string;
  readonly timeoutMs: number;
};

export const DEFAULT_TIMEOUT_MS = 600_000;

/** A request without an HTTP response: the URL, the cause, what to do, and how many retries can help. */
type Unreachable = {
  readonly endpoint: string;
  readonly reason: string;
  readonly retryLimit: number | undefined;
  readonly message: string;
};

function describeUnreachable(thrown: unknown, endpoint: ModelEndpoint): Unreachable {
  const errors = errorChain(thrown);
  const reason = reasonOf(errors, endpoint);
  const url = shownUrl(endpoint.url);
  const { advice, retryLimit } = remedy(reason, errors, endpoint);
  return { endpoint: url, reason, retryLimit, message: `Cannot reach ${url} (${reason}): ${advice}` };
}

/** A URL for people: scheme, host and path; user, password, query and fragment may carry secrets. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return redactText(url);
  const { protocol, host, pathname } = new URL(url);
  return redactText(`${protocol}//${host}${pathname === '/' ? '' : pathname}`);
}

/** Masks URLs with a user and password: the errors of fetch quote such URLs, which it refuses. */
function withoutUserInfo(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]*@[^\s"'<>]*/g, shownUrl);
}

const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_)/;
const NOT_TLS = /^(EPROTO$|ERR_SSL_)/;
/** Error messages of fetch for URLs that it never requests; the last is for URLs with a user and a password. */
const NOT_REQUESTED = /^(bad port|unknown scheme|not implemented|request cannot be constructed)/i;
const CLOSED = /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/;
const TIMED_OUT = /^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/;

/** A host name that does not resolve rarely starts to; a network that is just coming up gets two more tries. */
const MAX_DNS_RETRIES = 2;

function remedy(
  reason: string,
  errors: readonly Error[],
  { url, variable, timeoutMs }: ModelEndpoint,
): { advice: string; retryLimit: number | undefined } {
  const correct = `correct ${variable}`;
  if (reason === 'ECONNREFUSED') {
    const retryLimit = isRefusedHere(errors, url) ? 0 : undefined;
    return { advice: `connection refused; start the model server or ${correct}`, retryLimit };
  }
  if (reason === 'ENOTFOUND') {
    return { advice: `host name not found; check the network or ${correct}`, retryLimit: MAX_DNS_RETRIES };
  }
  if (CERTIFICATE.test(reason)) {
    const advice = 'TLS certificate not trusted; set NODE_EXTRA_CA_CERTS to the path of its CA certificate';
    return { advice, retryLimit: 0 };
  }
  if (NOT_TLS.test(reason)) return { advice: `the port does not use TLS; ${correct}`, retryLimit: 0 };
  if (NOT_REQUESTED.test(reason)) return { advice: correct, retryLimit: 0 };
  if (TIMED_OUT.test(reason) || reason === timeoutReason(timeoutMs)) {
    const advice = `check that the server responds, or raise API_TIMEOUT_MS (now ${timeoutMs})`;
    return { advice, retryLimit: undefined };
  }
  const closed = CLOSED.test(reason) ? 'connection closed before a response; ' : '';
  return { advice: `${closed}check the server and the network, or ${correct}`, retryLimit: undefined };
}

/** Whether this machine itself refused the connection. */
function isRefusedHere(errors: readonly Error[], url: string): boolean {
  const addresses = errors.flatMap((error) =>
    'address' in error && typeof error.address === 'string' ? [error.address] : [],
  );
  const hosts = addresses.length > 0 ? addresses : [new URL(url).hostname];
  return hosts.every((host) => isLoopback(host.replace(/^::ffff:/i, '')) || /^(0\.0\.0\.0|::)$/.test(host));
}

/** The first system error code, or the message of the innermost error. */
function reasonOf(errors: readonly Error[], { timeoutMs }: ModelEndpoint): string {
  for (const error of errors) {
    const code = 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code)) return code;
  }
  if (errors.some(({ message }) => /^request timed out\.?$/i.test(message))) return timeoutReason(timeoutMs);
  return redactText(withoutUserInfo(errors.at(-1)?.message ?? 'no response').slice(0, 200));
}

function timeoutReason(timeoutMs: number): string {
  return `no response within ${timeoutMs / 1000} s`;
}

const MAX_DEPTH = 10;

/** An error and its causes, outermost first; of several attempts of one connection, each. */
function errorChain(thrown: unknown): Error[] {
  const chain: Error[] = [];
  for (let error = thrown; error instanceof Error && chain.length < MAX_DEPTH; error = error.cause) {
    chain.push(error);
    if (error instanceof AggregateError) chain.push(...error.errors.filter((it) => it instanceof Error));
  }
  return chain;
}
