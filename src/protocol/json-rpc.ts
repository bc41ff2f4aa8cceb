import { isRecord } from '../base/json-value.ts';
import { messageOf } from './sdk-error.ts';

/** A string or an integer. Any other value of `id` is ignored, so that such a request is read as a notification. */
export type RpcId = string | number;

export type RpcRequest = { jsonrpc: '2.0'; id: RpcId; method: string; params?: Record<string, unknown> };
export type RpcNotification = { jsonrpc: '2.0'; method: string; params?: Record<string, unknown> };
export type RpcResult = { result: Record<string, unknown>; jsonrpc: '2.0'; id: RpcId };
export type RpcFailure = { jsonrpc: '2.0'; id: RpcId; error: RpcError };
export type RpcResponse = RpcResult | RpcFailure;
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;
export type RpcError = { code: number; message: string; data?: unknown };

export const PARSE_FAILED = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL = -32603;
/** The code of the Language Server Protocol for a cancelled request; MCP defines none. */
export const CANCELLED = -32800;

export type IncomingRpc =
  | { kind: 'request'; id: RpcId; method: string; params: Record<string, unknown> }
  | { kind: 'notification'; method: string; params: Record<string, unknown> }
  | { kind: 'response'; id: RpcId; message: RpcResponse }
  | { kind: 'malformed'; id: RpcId | undefined; reason: string };

const NO_PARAMS: Record<string, unknown> = {};

/** Parses one JSON-RPC message; never throws. The member `jsonrpc` is not checked, since nothing depends on it. */
export function readRpc(value: unknown): IncomingRpc {
  if (!isRecord(value))
    return { kind: 'malformed', id: undefined, reason: 'a JSON-RPC message must be an object' };
  const id = isRpcId(value.id) ? value.id : undefined;
  const { method, params } = value;
  if (typeof method === 'string') {
    if (params !== undefined && !isRecord(params)) {
      return { kind: 'malformed', id, reason: `the params of ${method} must be an object` };
    }
    const read = params ?? NO_PARAMS;
    return id === undefined
      ? { kind: 'notification', method, params: read }
      : { kind: 'request', id, method, params: read };
  }
  if (id !== undefined && ('result' in value || 'error' in value)) {
    return { kind: 'response', id, message: value as RpcResponse };
  }
  return { kind: 'malformed', id, reason: 'a JSON-RPC message needs a method, a result or an error' };
}

export function rpcResult(id: RpcId, result: Record<string, unknown>): RpcResult {
  return { result, jsonrpc: '2.0', id };
}

export function rpcFailure(id: RpcId, code: number, message: string, data?: unknown): RpcFailure {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { jsonrpc: '2.0', id, error };
}

/** The error response for a result that cannot be serialized, so that every request is answered. */
export function unsendable(result: RpcResult, cause: unknown): RpcFailure {
  return rpcFailure(result.id, INTERNAL, `The result cannot be serialized as JSON: ${messageOf(cause)}`);
}

/** Thrown inside a method handler to answer with that JSON-RPC error. */
export class RpcMethodError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

function isRpcId(value: unknown): value is RpcId {
  return typeof value === 'string' || Number.isInteger(value);
}
