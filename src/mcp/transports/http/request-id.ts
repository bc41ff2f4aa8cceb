import { isRecord } from '../../../base/is-record.ts';

/** The id of the request in a body; undefined if it is none, or several. */
export function requestIdOf(body: string): number | string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isRecord(message) || typeof message.method !== 'string') return undefined;
  const { id } = message;
  return typeof id === 'number' || typeof id === 'string' ? id : undefined;
}

/** As `requestIdOf` for a body that is known to be a request: we write the id second, and the official client last. */
export function quickRequestIdOf(body: string): number | string | undefined {
  const quick = /^\{"jsonrpc":"2\.0","id":(\d+),/.exec(body) ?? /,"id":(\d+)\}$/.exec(body.slice(-32));
  return quick?.[1] === undefined ? requestIdOf(body) : Number(quick[1]);
}
