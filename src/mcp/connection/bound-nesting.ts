import { isRecord } from '../../base/is-record.ts';
import { cutNesting, isNestedDeeper, MAX_NESTING } from '../../base/nesting.ts';
import { INVALID_REQUEST, type RpcFailure, type RpcId, rpcFailure } from '../../protocol/json-rpc.ts';
import { TOO_LARGE } from '../transports/stdio/too-large.ts';

type Message = Record<string, unknown>;

/** What becomes of one message of a server. */
export type Bounded =
  | { readonly kind: 'message'; readonly message: Message }
  /** A request of the server that gets this answer and goes no further. */
  | { readonly kind: 'refused'; readonly reply: RpcFailure }
  /** A message that goes no further; the text says why. */
  | { readonly kind: 'dropped'; readonly why: string };

/**
 * Bounds the nesting of a message, so that no code behind this point runs out of stack: an answer nested too deep fails
 * its own request, a request is refused, a notification is dropped. Of a handshake or a list only what lies too deep is
 * cut off: the other entries of the list are good.
 */
export function boundNesting(message: Message): Bounded {
  if (!isNestedDeeper(message)) return { kind: 'message', message };
  const { id, method, result } = message;
  const isId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    if (isId)
      return { kind: 'refused', reply: rpcFailure(id, INVALID_REQUEST, `The request is ${TOO_DEEP}`) };
    return { kind: 'dropped', why: `its notification is ${TOO_DEEP} and was ignored: ${method}` };
  }
  if (!isId) return { kind: 'dropped', why: `it sent a message ${TOO_DEEP}, which was ignored` };
  return { kind: 'message', message: isCuttable(result) ? (cutNesting(message) as Message) : failure(id) };
}

function failure(id: RpcId): RpcFailure {
  const text = `its answer is ${TOO_DEEP}; have the server return flatter data`;
  return rpcFailure(id, TOO_LARGE, text, { limit: MAX_NESTING });
}

const TOO_DEEP = `nested more than ${MAX_NESTING} levels deep`;

function isCuttable(result: unknown): boolean {
  if (!isRecord(result) || 'content' in result || 'structuredContent' in result) return false;
  return CUTTABLE.some((name) => name in result);
}

/** Members of the answers to handshakes and lists. */
const CUTTABLE = [
  'protocolVersion',
  'supportedVersions',
  'tools',
  'prompts',
  'resources',
  'resourceTemplates',
];
