import { isRecord } from '../../base/is-record.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { HostError } from './host-error.ts';

/** What a failed call of the official client means. A JSON-RPC error stays what it is: the server's own words. */
export function explain(server: string, failure: unknown): unknown {
  if (failure instanceof HostError || isRpcError(failure)) return failure;
  const fail = (code: HostError['code'], fault: string) =>
    new HostError(code, server, fault, { cause: failure });
  const { code, status, name } = read(failure);
  if (status === 401 || status === 403 || name === 'UnauthorizedError') {
    return fail('unauthorized', 'it refused our credentials; check "headers" of its entry');
  }
  if (code === 'REQUEST_TIMEOUT') return fail('timeout', 'it did not answer in time');
  if (CLOSED.has(code)) return fail('closed', 'the connection is closed');
  return fail('unreachable', rootMessage(failure));
}

/** What a failed connect means: as `explain`, but a process that is gone was never there. */
export function explainConnect(server: string, failure: unknown, lastWords: string): HostError {
  const fail = (code: HostError['code'], fault: string) =>
    new HostError(code, server, fault, { cause: failure });
  const { code, syscall } = read(failure);
  if (String(syscall).startsWith('spawn')) {
    const why = code === 'ENOENT' ? 'is not found' : `cannot be run (${String(code)})`;
    return fail('spawn-failed', `its command ${why}: ${String(syscall).slice('spawn '.length)}`);
  }
  const known = explain(server, failure);
  if (!(known instanceof HostError)) return fail('unreachable', `it refused to start: ${messageOf(failure)}`);
  if (known.code !== 'closed') return known;
  const said = lastWords === '' ? '' : `; it said: ${lastWords}`;
  return fail('spawn-failed', `it ended before it was ready${said}`);
}

const CLOSED: ReadonlySet<unknown> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED']);

/** Codes of JSON-RPC are numbers, those of the client's own failures are words. */
function isRpcError(failure: unknown): boolean {
  return failure instanceof Error && typeof read(failure).code === 'number';
}

function read(failure: unknown): Record<string, unknown> {
  return isRecord(failure) ? failure : {};
}

/** `fetch failed` says nothing; its cause says why. */
function rootMessage(failure: unknown): string {
  const { cause } = read(failure);
  return cause === undefined ? messageOf(failure) : `${messageOf(failure)}: ${messageOf(cause)}`;
}
