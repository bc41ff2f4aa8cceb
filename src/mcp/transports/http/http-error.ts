import { isRecord } from '../../../base/json-value.ts';
import { truncate } from '../../../base/text/display-text.ts';
import { redactText } from '../../../base/text/redact.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { HostError } from '../../errors/host-error.ts';

/** Details of a failed HTTP request. */
export type HttpErrorOptions = {
  /** The error code of the system, of undici, or one of ours. */
  code:
    | 'http-status'
    | 'bad-answer'
    | 'too-large'
    | 'cross-origin'
    | 'stream-ended'
    | 'proxy'
    | (string & {});
  status?: number;
  /** The server's Retry-After, in milliseconds from now. */
  retryAfterMs?: number;
  /** Whether the server may have received the request. */
  wasSent: boolean;
  /** The request had a session id: after a 400 or 404 the server may have lost the session. */
  hadSession?: boolean;
  /** The JSON body of an error response, which may contain a JSON-RPC error. */
  text?: string;
  /** The text of an error response, not masked yet. */
  reason?: string;
  /** The `WWW-Authenticate` header. */
  challenge?: string;
  cause?: unknown;
};

/** A request that failed, or got an unusable response. The message contains no secrets. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly wasSent: boolean;
  readonly hadSession: boolean;
  readonly text: string | undefined;
  readonly reason: string | undefined;
  readonly challenge: string | undefined;

  constructor(message: string, facts: HttpErrorOptions) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.wasSent = facts.wasSent;
    this.hadSession = facts.hadSession === true;
    this.text = facts.text;
    this.reason = facts.reason;
    this.challenge = facts.challenge;
  }
}

/** Converts a network error; errors without a system code are returned unchanged. */
export function toNetworkError(failure: unknown): unknown {
  const { code, name } = isRecord(failure) ? failure : {};
  if (name === 'HTTPParserError') {
    return new HttpError(NO_HTTP, { code: 'bad-answer', wasSent: true, cause: failure });
  }
  if (failure instanceof HttpError || failure instanceof HostError || typeof code !== 'string')
    return failure;
  const text = redactText(messageOf(failure) || code);
  const message = text.includes(code) || code.startsWith('UND_ERR') ? text : `${text} (${code})`;
  return new HttpError(message, { code, wasSent: !isBeforeSending(code, failure), cause: failure });
}

const NO_HTTP =
  'the server does not respond with HTTP on this port; check "url", its port, and whether the server requires https';

/** Reports the proxy as the cause if no connection was made through it; returns other errors unchanged. */
export function toProxyError(error: unknown, { host }: URL): unknown {
  if (!(error instanceof HttpError) || !NO_CONNECTION.has(error.code)) return error;
  const message = `the proxy ${host} from the environment cannot be used: ${error.message}; check the proxy variables`;
  return new HttpError(message, { code: 'proxy', wasSent: false });
}

/** The text of an error page on one line, truncated. */
export function excerpt(text: string): string {
  const plain = redactText(text.slice(0, MAX_PAGE).replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  if (plain.length > EXCERPT) return truncate(plain, EXCERPT);
  // The ellipsis also tells the masking that a secret may be truncated at the end.
  return text.length > MAX_PAGE && plain !== '' ? `${plain}…` : plain;
}

const MAX_PAGE = 2000;
const EXCERPT = 200;

/** Codes of errors before the proxy made a connection; undici uses UND_ERR_ABORTED if the proxy refuses the tunnel. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_ABORTED',
]);

/** Errors before a connection existed. Most codes can also occur on an established connection. */
function isBeforeSending(code: string, failure: unknown): boolean {
  const syscall = syscallOf(failure);
  if (syscall !== undefined) return syscall === 'connect' || syscall === 'getaddrinfo';
  return BEFORE_SENDING.has(code) || /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

/** The failed system call; if all addresses of a host failed, that of the last one. */
function syscallOf(failure: unknown): string | undefined {
  const { syscall, errors }: Record<string, unknown> = isRecord(failure) ? failure : {};
  if (typeof syscall === 'string') return syscall;
  return Array.isArray(errors) && errors.length > 0 ? syscallOf(errors.at(-1)) : undefined;
}

const BEFORE_SENDING: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_INVALID_ARG',
  'ERR_INVALID_URL',
]);
