import { isRecord } from '../../base/is-record.ts';
import { TOO_LARGE } from '../transports/stdio/too-large.ts';
import { explainStatus } from './explain-status.ts';
import { readFailure } from './failure-facts.ts';
import { HostError, type HostErrorCode, type HostErrorOptions } from './host-error.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { Secrets } from './secrets.ts';
import { SIGN_IN } from './sign-in.ts';

/** What is known of the request besides its failure. */
export type FailureContext = {
  readonly hadSession?: boolean;
  /** Whether the server had shaken hands before. */
  readonly isEstablished?: boolean;
  /** What must not be shown though the server says it. */
  readonly secrets?: Secrets;
};

const NONE = new Secrets();

/** What a failed request means. A JSON-RPC error stays what it is: the server's own words. */
export function explain(server: string, failure: unknown, context: FailureContext = {}): Error {
  if (failure instanceof HostError) return failure;
  const { secrets = NONE } = context;
  if (isRpcError(failure)) {
    if (failure.code !== TOO_LARGE) return failure;
    return new HostError('too-large', server, secrets.brief(failure.message), { cause: failure });
  }
  const facts = readFailure(failure);
  const { retryAfterMs, wasSent } = facts;
  const said = secrets.brief(facts.said);
  const fail = (code: HostErrorCode, fault: string, more: HostErrorOptions = {}) =>
    new HostError(code, server, secrets.mask(fault), {
      cause: failure,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...more,
      ...(wasSent === false && { hasRun: 'no' }),
    });
  if (facts.isUnauthorized) return fail('unauthorized', SIGN_IN, { hasRun: 'no' });
  const code = facts.code ?? '';
  if (code === 'too-large') return fail('too-large', said);
  if (SPOKEN.has(code)) return fail('unreachable', said, { isTerminal: code === 'proxy' });
  if (code === 'stream-ended') return fail('closed', said, { isTerminal: true });
  if (facts.status !== undefined) {
    const told = explainStatus(server, facts, facts.status, {
      hadSession: facts.hadSession ?? context.hadSession === true,
      isEstablished: context.isEstablished === true,
    });
    if (told instanceof Error) return told;
    const reason = secrets.brief(facts.reason ?? '');
    const words = reason === '' || told.code === 'session-lost' ? '' : `; it said: ${reason}`;
    return fail(told.code, `${told.fault}${words}`, told);
  }
  const known = NETWORK_FAULTS[code];
  if (known) {
    const hasRun = known.hasRun === 'no' || facts.syscall === 'connect' ? 'no' : 'maybe';
    return fail(known.code, `${known.fault} (${code})`, { isTerminal: known.isTerminal, hasRun });
  }
  if (code === 'REQUEST_TIMEOUT') return fail('timeout', 'it did not answer in time');
  if (CLOSED.has(code) || facts.isAborted)
    return fail('closed', 'the connection is closed', { isTerminal: true });
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT') {
    return fail('unreachable', sayContent(facts.contentType && secrets.brief(facts.contentType)));
  }
  return fail('unreachable', `${said}; see whether it runs and its entry is right`);
}

/** Faults of our own transports that say what to do. */
const SPOKEN: ReadonlySet<string> = new Set(['bad-answer', 'cross-origin', 'proxy', 'ws-handshake']);

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

function sayContent(contentType: string | undefined): string {
  return contentType?.includes('html')
    ? 'a web page is there and no MCP server; check "url"'
    : `it answered with ${contentType ?? 'no content type'} and not as an MCP server does; check "url"`;
}
