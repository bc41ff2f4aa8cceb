import type { HttpFault } from './http-fault.ts';

/** Who hears what happens to answers beside the request they belong to. */
export type HttpWatch = {
  /** The longest message taken, in bytes. */
  limit: number;
  /** Takes credentials out of a text of the server that is no message of the protocol. */
  mask(text: string): string;
  /** A message was dropped; with the id of the request it answers, if that is known. */
  onTooLong(id: number | string | undefined, fault: HttpFault): void;
  /** A stream of events is over, though nobody left it. */
  onStreamEnd?(method: string, failure?: unknown): void;
};
