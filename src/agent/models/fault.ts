import { isRecord } from '../../base/is-record.ts';
import { redactText } from '../../base/redact.ts';
import { ModelFault, type ModelFaultCode } from './model.ts';
import { describeUnreachable, type ModelEndpoint, shownUrl, withoutUserInfo } from './unreachable.ts';

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

const CUT =
  /^(terminated|fetch failed|connection error\.?|request timed out\.?|socket hang up|other side closed|premature close)$/i;

/** What a client library threw, as a fault; `now` is for a retry-after that is a date. */
export function faultOf(thrown: unknown, endpoint: ModelEndpoint, now: number): ModelFault {
  if (thrown instanceof ModelFault) return thrown;
  const said = isRecord(thrown) ? thrown : {};
  const types = [said.type, said.code, ...errorTypes(said.error)].filter((type) => typeof type === 'string');
  const given = typeof said.status === 'number' ? said.status : undefined;
  const status = given ?? types.map((type) => STATUS_OF_TYPE[type]).find((known) => known !== undefined);
  const message = withoutUserInfo(thrown instanceof Error ? thrown.message : String(thrown));
  const code = status === undefined ? codeWithoutStatus(thrown) : codeOf(status, types, message);
  if (code === 'unreachable' && status === undefined) return unreachableFault(thrown, endpoint);
  const url = shownUrl(endpoint.url);
  return new ModelFault(code, redactText(`${WHAT[code]} (${url}): ${message}`), {
    status,
    endpoint: url,
    retryAfterMs: retryAfterMs(said.headers, now),
    cause: thrown,
  });
}

/** The fault of a stream that stopped before its message did. */
export function cutFault(endpoint: ModelEndpoint): ModelFault {
  return unreachableFault(new Error('the reply ended in the middle'), endpoint);
}

function unreachableFault(cause: unknown, endpoint: ModelEndpoint): ModelFault {
  const { message, ...details } = describeUnreachable(cause, endpoint);
  return new ModelFault('unreachable', message, { ...details, cause });
}

const WHAT: Readonly<Record<ModelFaultCode, string>> = {
  overloaded: 'The model is overloaded',
  'rate-limited': 'The model’s rate limit is reached',
  unauthorized: 'The model refused the key; check the key and what its account may use',
  'bad-request': 'The model refused the request',
  'too-long': 'The conversation is too long for the model',
  unreachable: 'The endpoint gave up waiting for the request',
  failed: 'The model failed',
};

function codeOf(status: number, types: readonly string[], message: string): ModelFaultCode {
  // It comes as a 429, but waiting does not help.
  if (types.includes('insufficient_quota')) return 'unauthorized';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429) return 'rate-limited';
  if (status === 503 || status === 529 || types.includes('overloaded_error')) return 'overloaded';
  if (status === 408) return 'unreachable';
  if (status === 413) return 'too-long';
  if (status >= 400 && status < 500)
    return [message, ...types].some((said) => TOO_LONG.test(said)) ? 'too-long' : 'bad-request';
  return 'failed';
}

function codeWithoutStatus(thrown: unknown): ModelFaultCode {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    const code = 'code' in error ? error.code : undefined;
    if (CUT.test(error.message)) return 'unreachable';
    if (typeof code === 'string' && /^(E[A-Z]{3,}|UND_ERR_)/.test(code)) return 'unreachable';
  }
  return 'failed';
}

function errorTypes(body: unknown): unknown[] {
  if (!isRecord(body)) return [];
  const inner = isRecord(body.error) ? body.error : {};
  return [body.type, body.code, inner.type, inner.code];
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
