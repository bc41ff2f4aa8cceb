import { isRecord } from '../../base/json-value.ts';
import { shellArguments } from '../../base/text/display-text.ts';
import { SecretMask } from '../connection/secret-mask.ts';
import { TOO_LARGE } from '../transports/oversized-message.ts';
import { HostError, type HostErrorCode, type HostErrorOptions, ServerFault } from './host-error.ts';

/** What is known about the request besides its failure. */
type FailureContext = {
  readonly hadSession?: boolean;
  /** Whether the handshake had succeeded before. */
  readonly isEstablished?: boolean;
  /** Masked in text that comes from the server. */
  readonly secrets?: SecretMask;
};

const NONE = new SecretMask();

/** Classifies a failed request as a `HostError`. A JSON-RPC error of the server is returned unchanged. */
export function classifyFailure(server: string, failure: unknown, context: FailureContext = {}): Error {
  const own = hostErrorIn(failure);
  if (own) return own;
  const { secrets = NONE } = context;
  if (isRpcError(failure)) {
    if (failure.code !== TOO_LARGE) return failure;
    return new HostError('too-large', server, secrets.brief(failure.message), { cause: failure });
  }
  const facts = readFailure(failure);
  const { retryAfterMs, wasSent } = facts;
  const detail = secrets.brief(facts.message);
  const fail = (code: HostErrorCode, detail: string, more: HostErrorOptions = {}) =>
    new HostError(code, server, secrets.mask(detail), {
      cause: failure,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...more,
      ...(wasSent === false && { hasRun: 'no' }),
    });
  if (facts.isUnauthorized) return fail('unauthorized', credentialsAdvice(server), { hasRun: 'no' });
  const code = facts.code ?? '';
  if (code === 'too-large') return fail('too-large', detail);
  if (SELF_EXPLAINING.has(code)) return fail('unreachable', detail, { isTerminal: code === 'proxy' });
  if (code === 'stream-ended') return fail('closed', detail, { isTerminal: true });
  if (facts.status !== undefined) {
    const failure = classifyStatus(server, facts, facts.status, {
      hadSession: facts.hadSession ?? context.hadSession === true,
      isEstablished: context.isEstablished === true,
    });
    if (failure instanceof Error) return failure;
    const reason = secrets.brief(facts.reason ?? '');
    // The status and the challenge say more than a JSON-RPC error in the body.
    const isKnown = failure.code === 'unauthorized' && readRpcError(server, facts.text) !== undefined;
    const isShown = reason !== '' && failure.code !== 'session-lost' && !isKnown;
    const text = isShown ? `; response: ${reason}` : '';
    return fail(failure.code, `${failure.fault}${text}`, failure);
  }
  const known = NETWORK_ERRORS[code];
  if (known) {
    const hasRun = known.hasRun === 'no' || facts.syscall === 'connect' ? 'no' : 'maybe';
    return fail(known.code, `${known.fault} (${code})`, { isTerminal: known.isTerminal, hasRun });
  }
  if (code === 'REQUEST_TIMEOUT')
    return fail('timeout', 'the server did not respond in time; check that the server is still running');
  if (CLOSED.has(code) || facts.isAborted)
    return fail('closed', 'the connection is closed', { isTerminal: true });
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT') {
    return fail('unreachable', describeContentType(facts.contentType && secrets.brief(facts.contentType)));
  }
  return fail('unreachable', `${detail}; check that the server is running and that its entry is correct`);
}

/** The official client wraps errors of the transport. */
function hostErrorIn(failure: unknown): HostError | undefined {
  return causesOf(failure, []).find((it) => it instanceof HostError) as HostError | undefined;
}

/** Errors of our own transports whose messages already contain a remedy. */
const SELF_EXPLAINING: ReadonlySet<string> = new Set(['bad-answer', 'cross-origin', 'proxy', 'ws-handshake']);

const CLOSED: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'NOT_CONNECTED',
  'SEND_FAILED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** JSON-RPC error codes are numbers, the client's own codes are strings; the numeric codes of DOMException do not count. */
export function isRpcError(failure: unknown): failure is Error & { code: number } {
  if (!(failure instanceof Error) || failure instanceof DOMException || !isRecord(failure)) return false;
  return typeof failure.code === 'number';
}

function describeContentType(contentType: string | undefined): string {
  return contentType?.includes('html')
    ? 'the URL serves a web page instead of an MCP server; check "url"'
    : `the response has ${contentType === undefined ? 'no content type' : `content type ${contentType}`} and is not MCP; check "url"`;
}

type StatusFailure = Pick<HostErrorOptions, 'isTerminal' | 'hasRun'> & { code: HostErrorCode; fault: string };

/**
 * What an HTTP error status means; a JSON-RPC error in the body is the response of the server. A 404 in a session only
 * suggests a lost session, since tools may answer 404 too.
 */
export function classifyStatus(
  server: string,
  { text, retryAfterMs, challenge }: Pick<FailureFacts, 'text' | 'retryAfterMs' | 'challenge'>,
  status: number,
  { hadSession = false, isEstablished = false }: StatusContext = {},
): StatusFailure | ServerFault {
  // Without a challenge a 403 may have any reason: an origin, an address or an account that is not allowed.
  const wantsAuth = status === 401 || (status === 403 && challenge !== undefined);
  if (wantsAuth)
    return {
      code: 'unauthorized',
      fault: scopeAdvice(server, challenge) ?? credentialsAdvice(server),
      hasRun: 'no',
    };
  const answered = readRpcError(server, text);
  if (hadSession && mayBeLost(status, answered)) {
    const detail = `the session no longer exists on the server (HTTP ${status}), so a new session is opened; check whether the server was restarted`;
    return { code: 'session-lost', fault: detail, isTerminal: true, hasRun: 'no' };
  }
  if (answered && status < 500) return answered;
  const wait =
    retryAfterMs === undefined
      ? 'later'
      : `in ${Math.ceil(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) / 1000)} s`;
  const failure = STATUS[status];
  if (failure)
    return {
      code: 'unreachable',
      ...failure,
      fault: `${failure.fault} (HTTP ${status}); ${remedyOf(failure)}retry ${wait}`,
    };
  if (status >= 500) {
    const detail = `the server failed (HTTP ${status}); check its log, or retry ${wait}`;
    return { code: 'unreachable', fault: detail };
  }
  if (status >= 300 && status < 400) {
    const detail = `the server redirects the request (HTTP ${status}); set "url" to the new address`;
    return { code: 'unreachable', fault: detail, hasRun: 'no' };
  }
  if (status === 403) {
    const remedy = isEstablished
      ? CHECK_EFFECT
      : 'check "url", and "headers" if the server requires credentials';
    return { code: 'unreachable', fault: `the server refused the request (HTTP 403); ${remedy}` };
  }
  if (isEstablished)
    return { code: 'unreachable', fault: `the server answered with HTTP ${status}; ${CHECK_EFFECT}` };
  const isAway = status === 404 || status === 405 || status === 410;
  if (isAway) {
    const detail = `no MCP server at this URL (HTTP ${status}); check "url" and "type"`;
    return { code: 'unreachable', fault: detail, hasRun: 'no' };
  }
  // A tool may use the status for its own errors, so the request may have run.
  const detail = `the server refused the request (HTTP ${status}); check "url" and "headers"`;
  return { code: 'unreachable', fault: detail };
}

/** What was known about the server when the request was sent. */
type StatusContext = {
  readonly hadSession?: boolean;
  /** The handshake succeeded at this URL, so the status is about the request. */
  readonly isEstablished?: boolean;
};

function remedyOf({ isTerminal }: Omit<StatusFailure, 'code'>): string {
  return isTerminal ? 'check that the server is running, or ' : '';
}

export const CHECK_EFFECT = 'check what the request did before you repeat it';
/** Upper bound for a server-supplied Retry-After. */
export const MAX_RETRY_AFTER_MS = 300_000;

const STATUS: Readonly<Record<number, Omit<StatusFailure, 'code'>>> = {
  408: { fault: 'the server timed out waiting for the request', hasRun: 'no' },
  429: { fault: 'too many requests', hasRun: 'no' },
  502: { fault: 'the gateway cannot reach the server', isTerminal: true },
  // Gateways also send 503 when the server has received the request.
  503: { fault: 'the server is not available', isTerminal: true },
  504: { fault: 'the gateway got no response from the server', isTerminal: true },
};

/** JSON-RPC error codes that servers send with HTTP 400 for an unknown session; -32600 is used by Python servers. */
const LOST: ReadonlySet<number> = new Set([-32000, -32001, -32600]);
const METHOD_NOT_FOUND = -32601;

/** The protocol defines a 404 in a session as a lost session, whatever the body says; a 400 may have other reasons. */
function mayBeLost(status: number, answered: ServerFault | undefined): boolean {
  if (status === 404 || status === 410) return answered?.code !== METHOD_NOT_FOUND;
  return status === 400 && (answered === undefined || LOST.has(answered.code));
}

/** The JSON-RPC error in the body of an error response, if there is one. */
export function readRpcError(server: string, text: string | undefined): ServerFault | undefined {
  if (text === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    const { code, message, data }: Record<string, unknown> =
      isRecord(body) && isRecord(body.error) ? body.error : {};
    return typeof code === 'number'
      ? new ServerFault(server, code, typeof message === 'string' ? message : '', data)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Facts extracted from a failure and its chain of causes. */
export type FailureFacts = {
  /** The error code of the system or a library. */
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  /** The HTTP status of the response. */
  readonly status: number | undefined;
  /** The body of the response. */
  readonly text: string | undefined;
  /** The reason that the server gave. */
  readonly reason: string | undefined;
  /** The WWW-Authenticate challenge. */
  readonly challenge: string | undefined;
  readonly contentType: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** False if no byte of the request was sent. */
  readonly wasSent: boolean | undefined;
  /** Whether the request had a session id. */
  readonly hadSession: boolean | undefined;
  readonly isUnauthorized: boolean;
  /** Whether the transport was closed during the request. */
  readonly isAborted: boolean;
  /** The message of the failure that has the code, or of the innermost one. */
  readonly message: string;
};

/** Takes each fact from the outermost failure that has it, but the code from the innermost, since outer codes are generic. */
export function readFailure(failure: unknown): FailureFacts {
  const chain = causesOf(failure, []);
  const data = chain.flatMap((it) => (isRecord(it.data) ? [it.data] : []));
  const all = [...chain, ...data];
  const pick = <T>(key: string, isFine: (value: unknown) => value is T): T | undefined =>
    all.map((it) => it[key]).find(isFine);
  const coded = chain.findLast((it) => isText(it.code));
  const spoken = chain.findLast((it) => isText(it.message) && it.message !== '');
  return {
    code: coded?.code as string | undefined,
    syscall: pick('syscall', isText),
    status: pick('status', isNumber),
    text: pick('text', isText),
    reason: pick('reason', isText) ?? pick('text', isText),
    challenge: pick('challenge', isText),
    contentType: pick('contentType', isText),
    retryAfterMs: pick('retryAfterMs', isNumber),
    wasSent: pick('wasSent', isBoolean),
    hadSession: pick('hadSession', isBoolean),
    isAborted: chain.some((it) => it.name === 'AbortError'),
    isUnauthorized: chain.some((it) => it.name === 'UnauthorizedError'),
    message: String(coded?.message || (spoken ? spoken.message : failure)),
  };
}

/** The failure and its causes, outermost first; of an AggregateError, such as one per address of a host, the last error. */
function causesOf(failure: unknown, before: readonly unknown[]): Record<string, unknown>[] {
  if (!isRecord(failure) || before.includes(failure) || before.length > 10) return [];
  const inner = failure.cause ?? (Array.isArray(failure.errors) ? failure.errors.at(-1) : undefined);
  return [failure, ...causesOf(inner, [...before, failure])];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/** The step of connecting that failed, before the server received a request. */
export type ConnectStage = 'command' | 'address' | 'tls';

/** The step that failed; undefined if the server was reached, or the failure does not show it. */
export function failedStage(failure: unknown): ConnectStage | undefined {
  const { code = '', syscall = '' } = readFailure(failure);
  if (syscall.startsWith('spawn')) return 'command';
  return Object.hasOwn(NETWORK_ERRORS, code) ? NETWORK_ERRORS[code]?.stage : undefined;
}

type NetworkError = {
  readonly code: HostErrorCode;
  readonly fault: string;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
  readonly stage?: ConnectStage;
};

const away = (detail: string, hasRun: 'no' | 'maybe'): NetworkError => ({
  code: 'unreachable',
  fault: detail,
  isTerminal: true,
  hasRun,
  stage: 'address',
});
/** The server accepted the request and stopped responding. */
const stalled = (detail: string): NetworkError => ({
  code: 'unreachable',
  fault: detail,
  isTerminal: true,
  hasRun: 'maybe',
});
const cut = (detail: string): NetworkError => ({
  code: 'closed',
  fault: detail,
  isTerminal: true,
  hasRun: 'maybe',
});
const certificate = (detail: string): NetworkError => ({
  code: 'unreachable',
  fault: detail,
  isTerminal: false,
  hasRun: 'no',
  stage: 'tls',
});
/** Unreadable TLS records usually occur during the handshake, but are possible later. */
const garbled = (detail: string): NetworkError => ({ ...certificate(detail), hasRun: 'maybe' });

const UNTRUSTED = certificate(
  'the issuer of its certificate is not trusted; add the certificate of the issuer under tls.ca',
);

/** Codes of the operating system and of the HTTP library, with a message and a remedy. */
export const NETWORK_ERRORS: Readonly<Record<string, NetworkError>> = {
  ECONNREFUSED: away('connection refused; start the server or check "url"', 'no'),
  ENOTFOUND: away('unknown host name; check "url" and the network', 'no'),
  EAI_AGAIN: away('the host name cannot be resolved now; check the network', 'no'),
  // An established connection can also fail this way, when its route disappears.
  EHOSTUNREACH: away('no route to the host; check the network', 'maybe'),
  ENETUNREACH: away('the network is unreachable; check the network', 'maybe'),
  UND_ERR_CONNECT_TIMEOUT: away('connecting timed out; check "url" and the network', 'no'),
  ETIMEDOUT: away('the host stopped responding; check the network', 'maybe'),
  UND_ERR_HEADERS_TIMEOUT: stalled(
    'the server accepted the request but did not respond; check that the server is still running',
  ),
  UND_ERR_BODY_TIMEOUT: stalled('the response stopped midway; check that the server is still running'),
  ECONNRESET: cut('the connection was reset; check that the server is still running'),
  ECONNABORTED: cut('the connection was aborted; check that the server is still running'),
  EPIPE: cut('the connection broke during a write; check that the server is still running'),
  UND_ERR_SOCKET: cut('the server closed the connection; check that the server is still running'),
  UND_ERR_DESTROYED: cut('the connection is closed'),
  UND_ERR_CLOSED: cut('the connection is closed'),
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: certificate('its certificate has expired; renew the certificate on the server'),
  CERT_NOT_YET_VALID: certificate('its certificate is not valid yet; check the clock of this machine'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    'its certificate is for another host; check "url" or set tls.serverName',
  ),
  EPROTO: garbled('the TLS handshake failed; check "url" and its port'),
  ERR_SSL_WRONG_VERSION_NUMBER: garbled('the server does not use TLS on this port; check "url" and its port'),
};
/** The remedy for a server that requires credentials. */
function credentialsAdvice(server: string): string {
  return `the server requires authentication; sign in with: toolplane mcp login ${shellArguments(server)}; or check the credentials in "headers" or "headersHelper" of its entry`;
}

/** Upper bound for the length of the scopes that are shown. */
const MAX_SCOPE_LENGTH = 200;

/** The remedy if the challenge names scopes that the access token lacks; only scopes in the syntax of OAuth are shown. */
function scopeAdvice(server: string, challenge = ''): string | undefined {
  if (!/\berror="?insufficient_scope\b/.test(challenge)) return undefined;
  const [, quoted, single] =
    /\bscope=(?:"([ !\x23-\x5b\x5d-\x7e]*)"|([!\x23-\x2b\x2d-\x5b\x5d-\x7e]+))/.exec(challenge) ?? [];
  const listed = (quoted ?? single ?? '').trim();
  if (listed === '' || listed.length > MAX_SCOPE_LENGTH) return undefined;
  return `the request requires scopes that the access token does not have (required: ${listed}); sign in again with these scopes: toolplane mcp login ${shellArguments(server)}; or, if its entry sets "oauth.scopes" or the credentials, change them there`;
}
