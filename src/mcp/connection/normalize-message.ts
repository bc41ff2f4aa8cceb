import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/json-value.ts';
import { INTERNAL, type IncomingRpc, type RpcId, readRpc, rpcFailure } from '../../protocol/json-rpc.ts';

const NO_ANSWER = 'its answer is neither a result nor an error';

/**
 * A message as the official client takes it; undefined for what is none. The client takes what has one member too
 * many, or an answer of another shape, for nobody's, and whoever asked would wait for ever: it is put right, or fails
 * its request.
 */
export function normalizeMessage(value: unknown): JSONRPCMessage | undefined {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return undefined;
  return normalize(value, readRpc(value)) as JSONRPCMessage | undefined;
}

/**
 * As `tidyMessage` where nothing but messages can come: one that does not say that it is JSON-RPC is taken all the same.
 */
export function normalizeLooseMessage(value: unknown): JSONRPCMessage | undefined {
  return normalizeMessage(isRecord(value) && value.jsonrpc !== '2.0' ? { ...value, jsonrpc: '2.0' } : value);
}

/** A value of a server's as text; one that nests too deep has none. */
export function formatValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return 'a value that nests too deep';
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

/** What has an id and says nothing is an answer all the same. */
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

/** Some write `null` where they have nothing to say. */
function withoutBadMeta(members: Record<string, unknown>): Record<string, unknown> {
  if (members._meta === undefined || isRecord(members._meta)) return members;
  const { _meta, ...rest } = members;
  return rest;
}
