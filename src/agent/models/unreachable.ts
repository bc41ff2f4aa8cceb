import { redactText } from '../../base/redact.ts';
import { isLoopback } from '../../mcp/transports/http/proxy-for.ts';

/** Where model requests go, the variable that sets it, and how long a response may take to begin. */
export type ModelEndpoint = {
  readonly url: string;
  readonly variable: string;
  readonly timeoutMs: number;
};

export const DEFAULT_TIMEOUT_MS = 600_000;

/** A request without an HTTP response: the URL, the cause, what to do, and how many retries can help. */
export type Unreachable = {
  readonly endpoint: string;
  readonly reason: string;
  readonly retryLimit: number | undefined;
  readonly message: string;
};

export function describeUnreachable(thrown: unknown, endpoint: ModelEndpoint): Unreachable {
  const errors = errorChain(thrown);
  const reason = reasonOf(errors, endpoint);
  const url = shownUrl(endpoint.url);
  const { advice, retryLimit } = remedy(reason, errors, endpoint);
  return { endpoint: url, reason, retryLimit, message: `Cannot reach ${url} (${reason}): ${advice}` };
}

/** A URL for people: scheme, host and path; user, password, query and fragment may carry secrets. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return redactText(url);
  const { protocol, host, pathname } = new URL(url);
  return redactText(`${protocol}//${host}${pathname === '/' ? '' : pathname}`);
}

/** fetch repeats URLs that it refuses for their user and password. */
export function withoutUserInfo(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]*@[^\s"'<>]*/g, shownUrl);
}

const CERTIFICATE =
  /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_)/;
const NOT_TLS = /^(EPROTO$|ERR_SSL_)/;
/** What fetch says of URLs it never requests; the last is for URLs with a user and a password. */
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
    return { advice: `nothing listens there; start the model server or ${correct}`, retryLimit };
  }
  if (reason === 'ENOTFOUND') {
    return { advice: `host name not found; check the network or ${correct}`, retryLimit: MAX_DNS_RETRIES };
  }
  if (CERTIFICATE.test(reason)) {
    const advice = 'TLS certificate not trusted; set NODE_EXTRA_CA_CERTS to the file of its CA';
    return { advice, retryLimit: 0 };
  }
  if (NOT_TLS.test(reason)) return { advice: `no TLS on that port; ${correct}`, retryLimit: 0 };
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

/** The first system error code, or the words of the innermost error. */
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
