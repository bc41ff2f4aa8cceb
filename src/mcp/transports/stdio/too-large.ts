import { type RpcFailure, type RpcId, rpcFailure } from '../../../protocol/json-rpc.ts';

/** The code of the answer we give to ourselves in place of one that was too long; no server uses it. */
export const TOO_LARGE = -31413;

/** Longest message where nobody says otherwise. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** Fails the one request whose answer was longer than is taken. `data` tells both figures. */
export function tooLarge(id: RpcId, bytes: number, limit: number): RpcFailure {
  return rpcFailure(id, TOO_LARGE, sayTooLarge(bytes, limit), { bytes, limit });
}

/** What was wrong and what to do, without whose message it was. */
export function sayTooLarge(bytes: number, limit: number): string {
  return `it sent a message of ${bytes} bytes, the limit is ${limit}; raise "maxFrameBytes" of its entry or have the tool return less`;
}
