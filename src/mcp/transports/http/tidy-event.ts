import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INTERNAL, type RpcId, rpcFailure } from '../../../protocol/json-rpc.ts';
import { tidyLoose } from '../../connection/tidy-message.ts';

/**
 * A whole server-sent event as the official transports take it: the message in it is put right, a batch becomes an
 * event each. Most are given back as they are.
 */
export function tidyEvent(event: Uint8Array): Uint8Array {
  const { data, others } = readEvent(event);
  if (data === undefined || data === '') return event;
  const value = parse(data);
  const given = Array.isArray(value) ? value : [value];
  const tidied = given.map(tidyLoose).filter((it) => it !== undefined);
  if (tidied.length === 0 || (value === tidied[0] && tidied.length === 1)) return event;
  return Buffer.from(tidied.map((message) => `${others}data: ${write(message)}\n\n`).join(''));
}

/** `data` is undefined for an event that is no message; `others` are its other lines. */
function readEvent({ buffer, byteOffset, length }: Uint8Array): { data: string | undefined; others: string } {
  const text = Buffer.from(buffer, byteOffset, length).toString('utf8');
  let data: string | undefined;
  let others = '';
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) {
      const part = line.slice(line[5] === ' ' ? 6 : 5);
      data = data === undefined ? part : `${data}\n${part}`;
    } else if (line !== '') others += `${line}\n`;
    if (line.startsWith('event:') && line.slice(6).trim() !== 'message') return { data: undefined, others };
  }
  return { data, others };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What nests too deep can be read but not written. */
function write(message: JSONRPCMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    if ('method' in message) return '';
    return JSON.stringify(rpcFailure(message.id as RpcId, INTERNAL, 'its answer nests too deep'));
  }
}
