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

/** As `requestIdOf` for a body that is known to be a request: the official client writes the id last. */
export function quickRequestIdOf(body: string): number | string | undefined {
  const last = /,"id":(\d+)\}$/.exec(body.slice(-32));
  return last?.[1] === undefined ? requestIdOf(body) : Number(last[1]);
}
