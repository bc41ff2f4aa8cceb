import { isRecord } from '../../../base/json-value.ts';
import { truncate } from '../../../base/text/display-text.ts';
import { redactText } from '../../../base/text/redact.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { HostError } from '../../errors/host-error.ts';

/** What is known of a request over the network that failed. */
export type HttpErrorOptions = {
  /** The system's or undici's word for what went wrong, or one of ours. */
  code:
    | 'http-status'
    | 'bad-answer'
    | 'too-large'
    | 'cross-origin'
    | 'stream-ended'
    | 'proxy'
    | (string & {});
  status?: number;
  /** When the server said it may be asked again, in milliseconds from now. */
  retryAfterMs?: number;
  /** Whether any of it can have reached the server. */
  wasSent: boolean;
  /** The request named a session: after a 400 or 404 the server may not know it any more. */
  hadSession?: boolean;
  /** The body of a refusal in JSON, which may hold an error of the protocol. */
  text?: string;
  /** The body of a refusal, of a web page its text: why the server refused, in its own words, with whatever secrets it repeats. */
  reason?: string;
  /** How the server wants to be authorized, its `WWW-Authenticate` header. */
  challenge?: string;
  cause?: unknown;
};

/** A request that failed on its way or was answered with something of no use. The message has no secrets. */
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

/** What a failure of the network means; what has no code of the system's stays what it is. */
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

const NO_HTTP = 'it does not speak HTTP there; check "url" and its port, and whether it begins with https';

/** With a proxy between, it is the proxy that is away or refuses us when no connection was made. */
export function toProxyError(error: unknown, { host }: URL): unknown {
  if (!(error instanceof HttpError) || !NO_CONNECTION.has(error.code)) return error;
  const message = `the proxy ${host} that the environment names cannot be used: ${error.message}`;
  return new HttpError(message, { code: 'proxy', wasSent: false });
}

/** A web page or a long complaint, cut to what fits in one line. */
export function excerpt(text: string): string {
  const plain = redactText(text.slice(0, MAX_PAGE).replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  if (plain.length > EXCERPT) return truncate(plain, EXCERPT);
  // The mark of a cut also tells the masker of secrets that one may be cut off at the end.
  return text.length > MAX_PAGE && plain !== '' ? `${plain}…` : plain;
}

const MAX_PAGE = 2000;
const EXCERPT = 200;

/** The pool aborts by itself only when a proxy refuses the tunnel. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_ABORTED',
]);

/** Nobody was there, or was not who the certificate says. Most codes also come of a connection that was good before. */
function isBeforeSending(code: string, failure: unknown): boolean {
  const syscall = syscallOf(failure);
  if (syscall !== undefined) return syscall === 'connect' || syscall === 'getaddrinfo';
  return BEFORE_SENDING.has(code) || /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code);
}

/** Of several addresses of a host, none of which was good, all say the same. */
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
