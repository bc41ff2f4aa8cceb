import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/json-value.ts';
import { INTERNAL, type IncomingRpc, type RpcId, readRpc, rpcFailure } from '../../protocol/json-rpc.ts';

export const NO_ANSWER =
  'the response of the server is neither a result nor an error; report this to the author of the server';

/**
 * Normalizes a message for the official client; undefined if it is not a message. The client drops responses with extra
 * or malformed members, and the caller would wait forever: such a response is repaired, or fails its request.
 */
export function normalizeMessage(value: unknown): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  return normalize(value, readRpc(value)) as JSONRPCMessage | undefined;
}

/** Like `normalizeMessage`, for channels that carry only messages: a missing `jsonrpc` member is tolerated. */
export function normalizeLooseMessage(value: unknown): JSONRPCMessage | undefined {
  return normalizeMessage(isRecord(value) && value.jsonrpc !== '2.0' ? { ...value, jsonrpc: '2.0' } : value);
}

/** A value of a server as text. */
export function formatValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'a value that is nested too deeply';
  }
}

function normalize(value: Record<string, unknown>, read: IncomingRpc): unknown {
  if (read.kind === 'malformed') return withoutAnswer(value);
  // No request of ours has an id that is not a safe integer.
  if (read.kind !== 'notification' && !isExact(read.id)) return undefined;
  if (read.kind === 'response') return normalizeResponse(read.id, value);
  const { jsonrpc, method, params } = value;
  const wanted = (read.kind === 'request' ? 3 : 2) + (params === undefined ? 0 : 1);
  const tidied = isRecord(params) ? withoutBadMeta(params) : params;
  if (Object.keys(value).length === wanted && tidied === params) return value;
  const id = read.kind === 'request' ? { id: read.id } : {};
  return { jsonrpc, ...id, method, ...(params === undefined ? {} : { params: tidied }) };
}

/** A message with only an id is a malformed response. */
function withoutAnswer({ id, method }: Record<string, unknown>): unknown {
  return isExact(id) && method === undefined ? rpcFailure(id, INTERNAL, NO_ANSWER) : undefined;
}

function isExact(id: unknown): id is RpcId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

function normalizeResponse(id: RpcId, value: Record<string, unknown>): unknown {
  const { jsonrpc, result, error } = value;
  if (isRecord(result)) {
    const tidied = withoutBadMeta(result);
    return Object.keys(value).length === 3 && tidied === result ? value : { jsonrpc, id, result: tidied };
  }
  if (!isRecord(error)) return rpcFailure(id, INTERNAL, NO_ANSWER);
  const code = Number.isSafeInteger(error.code) ? (error.code as number) : INTERNAL;
  const message = typeof error.message === 'string' ? error.message : formatValue(error);
  return rpcFailure(id, code, message, error.data);
}

/** Some servers send `_meta: null`. */
function withoutBadMeta(members: Record<string, unknown>): Record<string, unknown> {
  if (members._meta === undefined || isRecord(members._meta)) return members;
  const { _meta, ...rest } = members;
  return rest;
}
