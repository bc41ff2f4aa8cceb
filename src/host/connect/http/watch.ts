import type { HttpFault } from './http-fault.ts';

/** Who hears what happens to answers beside the request they belong to. */
export type HttpWatch = {
  /** The longest message taken, in bytes. */
  limit: number;
  /** A message was dropped; with the id of the request it answers, if that is known. */
  onTooLong(id: number | string | undefined, fault: HttpFault): void;
  /** A stream of events is over, though nobody left it. */
  onStreamEnd?(method: string, failure?: unknown): void;
};
