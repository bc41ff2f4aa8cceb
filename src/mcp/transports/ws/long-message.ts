import { INVALID_REQUEST, type RpcFailure, type RpcId, rpcFailure } from '../../../protocol/json-rpc.ts';
import { MessageScanner } from '../stdio/message-scanner.ts';

/** What can be done about a message that is too long: whose answers it holds, and what its requests are told. */
export function readLongMessage(
  bytes: Uint8Array,
  limit: number,
): { answered: RpcId[]; refusals: RpcFailure[] } {
  const scanner = new MessageScanner();
  scanner.write(bytes);
  const answered: RpcId[] = [];
  const refusals: RpcFailure[] = [];
  for (const { id, hasMethod } of scanner.end()) {
    if (id === undefined) continue;
    if (!hasMethod) answered.push(id);
    else refusals.push(rpcFailure(id, INVALID_REQUEST, `The request is longer than ${limit} bytes`));
  }
  return { answered, refusals };
}
