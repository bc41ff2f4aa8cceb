import { isRecord } from '../../base/json-value.ts';
import { Secrets } from '../connection/secrets.ts';
import { TOO_LARGE } from '../transports/oversized-message.ts';
import { HostError, type HostErrorCode, type HostErrorOptions, ServerFault } from './host-error.ts';

/** What is known of the request besides its failure. */
type FailureContext = {
  readonly hadSession?: boolean;
  /** Whether the server had shaken hands before. */
  readonly isEstablished?: boolean;
  /** What must not be shown though the server says it. */
  readonly secrets?: Secrets;
};

const NONE = new Secrets();

/** Classifies a failed request as a `HostError`. A JSON-RPC error of the server is returned unchanged. */
export function classifyFailure(server: string, failure: unknown, context: FailureContext = {}): Error {
  if (failure instanceof HostError) return failure;
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
  if (facts.isUnauthorized) return fail('unauthorized', CREDENTIALS_ADVICE, { hasRun: 'no' });
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
    const text = reason === '' || failure.code === 'session-lost' ? '' : `; it said: ${reason}`;
    return fail(failure.code, `${failure.fault}${text}`, failure);
  }
  const known = NETWORK_ERRORS[code];
  if (known) {
    const hasRun = known.hasRun === 'no' || facts.syscall === 'connect' ? 'no' : 'maybe';
    return fail(known.code, `${known.fault} (${code})`, { isTerminal: known.isTerminal, hasRun });
  }
  if (code === 'REQUEST_TIMEOUT') return fail('timeout', 'it did not answer in time');
  if (CLOSED.has(code) || facts.isAborted)
    return fail('closed', 'the connection is closed', { isTerminal: true });
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT') {
    return fail('unreachable', describeContentType(facts.contentType && secrets.brief(facts.contentType)));
  }
  return fail('unreachable', `${detail}; see whether it runs and its entry is right`);
}

/** Faults of our own transports that say what to do. */
const SELF_EXPLAINING: ReadonlySet<string> = new Set(['bad-answer', 'cross-origin', 'proxy', 'ws-handshake']);

const CLOSED: ReadonlySet<string> = new Set([
  'CONNECTION_CLOSED',
  'NOT_CONNECTED',
  'SEND_FAILED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Codes of JSON-RPC are numbers, those of the client's own failures are words; the old numbers of the web mean nothing. */
export function isRpcError(failure: unknown): failure is Error & { code: number } {
  if (!(failure instanceof Error) || failure instanceof DOMException || !isRecord(failure)) return false;
  return typeof failure.code === 'number';
}

function describeContentType(contentType: string | undefined): string {
  return contentType?.includes('html')
    ? 'a web page is there and no MCP server; check "url"'
    : `it answered with ${contentType ?? 'no content type'} and not as an MCP server does; check "url"`;
}

type StatusFailure = Pick<HostErrorOptions, 'isTerminal' | 'hasRun'> & { code: HostErrorCode; fault: string };

/**
 * What an HTTP status that is no success means; a JSON-RPC error in its body is the server's own answer. A lost session
 * is a guess: tools answer 404 too.
 */
export function classifyStatus(
  server: string,
  { text, retryAfterMs, challenge }: Pick<FailureFacts, 'text' | 'retryAfterMs' | 'challenge'>,
  status: number,
  { hadSession = false, isEstablished = false }: StatusContext = {},
): StatusFailure | ServerFault {
  // Without a challenge a 403 may have any reason: an origin, an address or an account that is not allowed.
  const wantsAuth = status === 401 || (status === 403 && challenge !== undefined);
  if (wantsAuth) return { code: 'unauthorized', fault: CREDENTIALS_ADVICE, hasRun: 'no' };
  const answered = readRpcError(server, text);
  if (hadSession && mayBeLost(status, answered)) {
    const detail = `it does not know our session any more (HTTP ${status}); a new one is made; see whether the server was restarted`;
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
      fault: `${failure.fault} (HTTP ${status}); ${remedyOf(failure)}ask again ${wait}`,
    };
  if (status >= 500) {
    const detail = `it failed (HTTP ${status}); look into its log, or ask again ${wait}`;
    return { code: 'unreachable', fault: detail };
  }
  if (status >= 300 && status < 400) {
    const detail = `it sends us elsewhere (HTTP ${status}); set "url" to where it is now`;
    return { code: 'unreachable', fault: detail, hasRun: 'no' };
  }
  if (status === 403) {
    const remedy = isEstablished ? SEE : 'check "url", and "headers" if it wants credentials';
    return { code: 'unreachable', fault: `it refused the request (HTTP 403); ${remedy}` };
  }
  if (isEstablished) return { code: 'unreachable', fault: `it answered with HTTP ${status}; ${SEE}` };
  const isAway = status === 404 || status === 405 || status === 410;
  if (isAway) {
    const detail = `no MCP server is there (HTTP ${status}); check "url" and "type"`;
    return { code: 'unreachable', fault: detail, hasRun: 'no' };
  }
  // It may be a tool's own word for what came of it.
  const detail = `it refused the request (HTTP ${status}); check "url" and "headers"`;
  return { code: 'unreachable', fault: detail };
}

/** What was known of the server when it was asked. */
type StatusContext = {
  readonly hadSession?: boolean;
  /** It has shaken hands there: what it answers with is about the request. */
  readonly isEstablished?: boolean;
};

function remedyOf({ isTerminal }: Omit<StatusFailure, 'code'>): string {
  return isTerminal ? 'see whether the server runs, or ' : '';
}

const SEE = 'see what the request did before you repeat it';
/** Upper bound for a server-supplied Retry-After in messages. */
const MAX_RETRY_AFTER_MS = 300_000;

const STATUS: Readonly<Record<number, Omit<StatusFailure, 'code'>>> = {
  408: { fault: 'it waited too long for the request', hasRun: 'no' },
  429: { fault: 'it is asked too often', hasRun: 'no' },
  502: { fault: 'the server behind its gateway is away', isTerminal: true },
  // Gateways send it for a server that has taken the request, too.
  503: { fault: 'it is not available', isTerminal: true },
  504: { fault: 'the server behind its gateway does not answer', isTerminal: true },
};

/** Error codes by which servers say with HTTP 400 that they do not know a session; the last is what those in Python use. */
const LOST: ReadonlySet<number> = new Set([-32000, -32001, -32600]);
const METHOD_NOT_FOUND = -32601;

/** By the protocol a 404 in a session means that the session is gone, whatever the body says; a 400 may be about anything. */
function mayBeLost(status: number, answered: ServerFault | undefined): boolean {
  if (status === 404 || status === 410) return answered?.code !== METHOD_NOT_FOUND;
  return status === 400 && (answered === undefined || LOST.has(answered.code));
}

/** The JSON-RPC error in the body of a refusal, if there is one. */
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

/** What can be read off a failure, wherever in its causes it stands. */
export type FailureFacts = {
  /** The system's or a library's word for it. */
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  /** The answer's HTTP status. */
  readonly status: number | undefined;
  /** The answer's body. */
  readonly text: string | undefined;
  /** Why a server refused, in its own words. */
  readonly reason: string | undefined;
  /** How the server wants to be authorized. */
  readonly challenge: string | undefined;
  readonly contentType: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** False if nothing of the request left this machine. */
  readonly wasSent: boolean | undefined;
  /** Whether the request named a session. */
  readonly hadSession: boolean | undefined;
  readonly isUnauthorized: boolean;
  /** The transport was closed under it. */
  readonly isAborted: boolean;
  /** What the failure with that code says, or the innermost if none has one. */
  readonly message: string;
};

/** The first fact of its kind counts, from the failure inwards; the innermost code does, since outer ones only say that something failed. */
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

/** The failure, its cause, and so on; of several at once, as when a host has many addresses, the last. */
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
  readonly stage?: ConnectStage;
  readonly fault: string;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
};

const away = (detail: string, hasRun: 'no' | 'maybe'): NetworkError => ({
  code: 'unreachable',
  stage: 'address',
  fault: detail,
  isTerminal: true,
  hasRun,
});
/** The server took the request and stopped responding. */
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
  stage: 'tls',
  fault: detail,
  isTerminal: false,
  hasRun: 'no',
});
/** Records that cannot be read come at the handshake as a rule, but at any time after it as well. */
const garbled = (detail: string): NetworkError => ({ ...certificate(detail), hasRun: 'maybe' });

const UNTRUSTED = certificate('its certificate is signed by nobody known here; add its CA under tls.ca');

/** What the words of the system and of the HTTP library mean, and what to do. */
export const NETWORK_ERRORS: Readonly<Record<string, NetworkError>> = {
  ECONNREFUSED: away('nobody listens there; start the server or check "url"', 'no'),
  ENOTFOUND: away('its host name is unknown; check "url" and the network', 'no'),
  EAI_AGAIN: away('its host name cannot be looked up now; check the network', 'no'),
  // A connection that was good ends so too, when its packets find no way any more.
  EHOSTUNREACH: away('there is no way to its host; check the network', 'maybe'),
  ENETUNREACH: away('there is no way to its network; check the network', 'maybe'),
  UND_ERR_CONNECT_TIMEOUT: away('its host does not answer; check "url" and the network', 'no'),
  ETIMEDOUT: away('its host stopped answering; check the network', 'maybe'),
  UND_ERR_HEADERS_TIMEOUT: stalled(
    'it took the request and never answered; see whether the server still runs',
  ),
  UND_ERR_BODY_TIMEOUT: stalled('its answer stopped in the middle; see whether the server still runs'),
  ECONNRESET: cut('the connection was reset; see whether the server still runs'),
  ECONNABORTED: cut('the connection was given up; see whether the server still runs'),
  EPIPE: cut('the connection broke while we wrote; see whether the server still runs'),
  UND_ERR_SOCKET: cut('the other side closed the connection; see whether the server still runs'),
  UND_ERR_DESTROYED: cut('the connection is closed'),
  UND_ERR_CLOSED: cut('the connection is closed'),
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: certificate('its certificate has expired; whoever runs it must renew it'),
  CERT_NOT_YET_VALID: certificate('its certificate is not valid yet; check the clock of this machine'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    'its certificate is for another host; check "url" or set tls.serverName',
  ),
  EPROTO: garbled('it does not speak TLS as we do; check "url" and its port'),
  ERR_SSL_WRONG_VERSION_NUMBER: garbled('it does not speak TLS there; check "url" and its port'),
};
/** What to do about a server that refuses us. */
const CREDENTIALS_ADVICE =
  'it wants a sign-in or credentials; set "headers" or "headersHelper" of its entry, or check what they hold';
