import { HttpFault } from './http-fault.ts';

/** The id to go on from after these events; undefined for one that no header can hold, as an older one would repeat events. */
export function idAfter(events: string, before: string | undefined): string | undefined {
  const id = [...events.matchAll(ID)].at(-1)?.[1]?.trim();
  if (id === undefined) return before;
  return FITS_HEADER.test(id) ? id : undefined;
}

/**
 * Whether a stream may have stayed shut because of the id it was to go on from. A server that was not reached, or is not
 * ready, says nothing of it; some that cannot find an event answer 500.
 */
export function mayBlameId(fault: unknown): boolean {
  if (!(fault instanceof HttpFault)) return true;
  return fault.wasSent && (fault.status ?? 0) <= 500;
}

const ID = /(?<=^|[\r\n])id: ?([^\r\n]*)/g;
const FITS_HEADER = /^[\t\x20-\x7e\x80-\xff]+$/;
