import { isRecord } from '../../base/is-record.ts';
import type { FailureFacts } from './failure-facts.ts';
import type { HostErrorCode, HostErrorOptions } from './host-error.ts';
import { ServerFault } from './server-fault.ts';
import { SIGN_IN } from './sign-in.ts';

type Told = Pick<HostErrorOptions, 'isTerminal' | 'hasRun'> & { code: HostErrorCode; fault: string };

/**
 * What an HTTP status that is no success means; a JSON-RPC error in its body is the server's own answer. A lost session
 * is a guess: tools answer 404 too.
 */
export function explainStatus(
  server: string,
  { text, retryAfterMs, challenge }: Pick<FailureFacts, 'text' | 'retryAfterMs' | 'challenge'>,
  status: number,
  { hadSession = false, isEstablished = false }: StatusContext = {},
): Told | ServerFault {
  // Without a challenge a 403 may have any reason: an origin, an address or an account that is not allowed.
  const wantsAuth = status === 401 || (status === 403 && challenge !== undefined);
  if (wantsAuth) return { code: 'unauthorized', fault: SIGN_IN, hasRun: 'no' };
  const answered = readRpcError(server, text);
  if (hadSession && mayBeLost(status, answered)) {
    const fault = `it does not know our session any more (HTTP ${status}); a new one is made; see whether the server was restarted`;
    return { code: 'session-lost', fault, isTerminal: true, hasRun: 'no' };
  }
  if (answered && status < 500) return answered;
  const wait =
    retryAfterMs === undefined
      ? 'later'
      : `in ${Math.ceil(Math.min(retryAfterMs, LONGEST_WAIT_MS) / 1000)} s`;
  const told = STATUS[status];
  if (told)
    return {
      code: 'unreachable',
      ...told,
      fault: `${told.fault} (HTTP ${status}); ${remedyOf(told)}ask again ${wait}`,
    };
  if (status >= 500) {
    const fault = `it failed (HTTP ${status}); look into its log, or ask again ${wait}`;
    return { code: 'unreachable', fault };
  }
  if (status >= 300 && status < 400) {
    const fault = `it sends us elsewhere (HTTP ${status}); set "url" to where it is now`;
    return { code: 'unreachable', fault, hasRun: 'no' };
  }
  if (status === 403) {
    const remedy = isEstablished ? SEE : 'check "url", and "headers" if it wants credentials';
    return { code: 'unreachable', fault: `it refused the request (HTTP 403); ${remedy}` };
  }
  if (isEstablished) return { code: 'unreachable', fault: `it answered with HTTP ${status}; ${SEE}` };
  const isAway = status === 404 || status === 405 || status === 410;
  if (isAway) {
    const fault = `no MCP server is there (HTTP ${status}); check "url" and "type"`;
    return { code: 'unreachable', fault, hasRun: 'no' };
  }
  // It may be a tool's own word for what came of it.
  const fault = `it refused the request (HTTP ${status}); check "url" and "headers"`;
  return { code: 'unreachable', fault };
}

/** What was known of the server when it was asked. */
type StatusContext = {
  readonly hadSession?: boolean;
  /** It has shaken hands there: what it answers with is about the request. */
  readonly isEstablished?: boolean;
};

function remedyOf({ isTerminal }: Omit<Told, 'code'>): string {
  return isTerminal ? 'see whether the server runs, or ' : '';
}

const SEE = 'see what the request did before you repeat it';
/** Nobody is told to wait for longer: it is asked again sooner. */
const LONGEST_WAIT_MS = 300_000;

const STATUS: Readonly<Record<number, Omit<Told, 'code'>>> = {
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
