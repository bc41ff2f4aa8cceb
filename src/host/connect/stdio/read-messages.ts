import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '../../../base/is-record.ts';
import { INTERNAL, type IncomingRpc, type RpcId, readRpc, rpcFailure } from '../../../protocol/json-rpc.ts';

/** Who hears what a line held. */
export type MessageReader = {
  onMessage(message: JSONRPCMessage): void;
  /** Part or all of the line is no message. */
  onNoise(text: string): void;
};

const BYTE_ORDER_MARK = 0xfeff;
const SPACE = 32;
const NO_ANSWER = 'its answer is neither a result nor an error';

/**
 * Reads one line: a message, a batch of them (2025-03-26), or noise; blank lines are nothing. A log line may be JSON
 * too: what does not say that it is JSON-RPC is noise.
 */
export function readMessages(line: string, reader: MessageReader): void {
  const text = line.charCodeAt(0) === BYTE_ORDER_MARK ? line.slice(1) : line;
  const value = parse(text);
  if (value === undefined) {
    if (text.trim() !== '') reader.onNoise(text);
  } else if (Array.isArray(value)) {
    for (const member of value) {
      if (!deliver(member, reader)) reader.onNoise(JSON.stringify(member));
    }
  } else if (!deliver(value, reader)) reader.onNoise(text);
}

function deliver(value: unknown, { onMessage }: MessageReader): boolean {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false;
  const message = tidy(value, readRpc(value));
  if (message) onMessage(message as JSONRPCMessage);
  return message !== undefined;
}

/**
 * The official client takes what has one member too many, or an answer of another shape, for nobody's, and whoever
 * asked would wait for ever: it is put right, or fails its request.
 */
function tidy(value: Record<string, unknown>, read: IncomingRpc): unknown {
  if (read.kind === 'malformed') return withoutAnswer(value);
  if (read.kind === 'response') return tidyResponse(read.id, value);
  const { jsonrpc, method, params } = value;
  const wanted = (read.kind === 'request' ? 3 : 2) + (params === undefined ? 0 : 1);
  if (Object.keys(value).length === wanted) return value;
  const id = read.kind === 'request' ? { id: read.id } : {};
  return { jsonrpc, ...id, method, ...(params === undefined ? {} : { params }) };
}

/** What has an id and says nothing is an answer all the same. */
function withoutAnswer({ id, method }: Record<string, unknown>): unknown {
  const isOurs = typeof id === 'number' || typeof id === 'string';
  return isOurs && method === undefined ? rpcFailure(id, INTERNAL, NO_ANSWER) : undefined;
}

function tidyResponse(id: RpcId, value: Record<string, unknown>): unknown {
  const { jsonrpc, result, error } = value;
  if (isRecord(result)) return Object.keys(value).length === 3 ? value : { jsonrpc, id, result };
  if (!isRecord(error)) return rpcFailure(id, INTERNAL, NO_ANSWER);
  const code = Number.isInteger(error.code) ? (error.code as number) : INTERNAL;
  const message = typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return rpcFailure(id, code, message, error.data);
}

/** Undefined is what is no JSON object or list; most noise is told by its first character, without a throw. */
function parse(text: string): unknown {
  let at = 0;
  while (text.charCodeAt(at) <= SPACE) at++;
  if (text[at] !== '{' && text[at] !== '[') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
