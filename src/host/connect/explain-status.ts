import { isRecord } from '../../base/is-record.ts';
import type { FailureFacts } from './failure-facts.ts';
import type { HostErrorCode, HostErrorOptions } from './host-error.ts';
import { ServerFault } from './server-fault.ts';
import { SIGN_IN } from './sign-in.ts';

type Told = Pick<HostErrorOptions, 'isTerminal' | 'hasRun'> & { code: HostErrorCode; fault: string };

/** What an HTTP status that is no success means; a JSON-RPC error in its body is the server's own answer. */
export function explainStatus(
  { text, retryAfterMs }: Pick<FailureFacts, 'text' | 'retryAfterMs'>,
  status: number,
  hadSession: boolean,
): Told | ServerFault {
  if (status === 401 || status === 403) return { code: 'unauthorized', fault: SIGN_IN, hasRun: 'no' };
  const answered = readRpcError(text);
  const isLost = answered === undefined || LOST.has(answered.code);
  if (hadSession && (status === 404 || status === 410 || status === 400) && isLost) {
    const fault = `it does not know our session any more (HTTP ${status}); a new one is made`;
    return { code: 'session-lost', fault, isTerminal: true, hasRun: 'no' };
  }
  if (answered && status < 500) return answered;
  const wait = retryAfterMs === undefined ? 'later' : `in ${Math.ceil(retryAfterMs / 1000)} s`;
  const told = STATUS[status];
  if (told)
    return { code: 'unreachable', ...told, fault: `${told.fault} (HTTP ${status}); ask again ${wait}` };
  if (status >= 500) {
    const fault = `it failed (HTTP ${status}); look into its log, or ask again ${wait}`;
    return { code: 'unreachable', fault };
  }
  if (status >= 300 && status < 400) {
    const fault = `it sends us elsewhere (HTTP ${status}); set "url" to where it is now`;
    return { code: 'unreachable', fault, hasRun: 'no' };
  }
  const isAway = status === 404 || status === 405 || status === 410;
  const fault = isAway
    ? `no MCP server is there (HTTP ${status}); check "url" and "type"`
    : `it refused the request (HTTP ${status}); check "url" and "headers"`;
  return { code: 'unreachable', fault, hasRun: 'no' };
}

const STATUS: Readonly<Record<number, Omit<Told, 'code'>>> = {
  408: { fault: 'it waited too long for the request', hasRun: 'no' },
  429: { fault: 'it is asked too often', hasRun: 'no' },
  502: { fault: 'the server behind its gateway is away', isTerminal: true },
  503: { fault: 'it is not available', isTerminal: true, hasRun: 'no' },
  504: { fault: 'the server behind its gateway does not answer', isTerminal: true },
};

/** By these servers say that they do not know a session. */
const LOST: ReadonlySet<number> = new Set([-32000, -32001]);

function readRpcError(text: string | undefined): ServerFault | undefined {
  if (text === undefined) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    const { code, message, data }: Record<string, unknown> =
      isRecord(body) && isRecord(body.error) ? body.error : {};
    return typeof code === 'number' ? new ServerFault(code, String(message ?? ''), data) : undefined;
  } catch {
    return undefined;
  }
}
