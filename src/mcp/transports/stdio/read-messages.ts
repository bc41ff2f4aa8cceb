import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { sayValue, tidyMessage } from '../../connection/tidy-message.ts';

/** Who hears what a line held. */
export type MessageReader = {
  onMessage(message: JSONRPCMessage): void;
  /** Part or all of the line is no message. */
  onNoise(text: string): void;
};

const BYTE_ORDER_MARK = 0xfeff;
const SPACE = 32;

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
      if (!deliver(member, reader)) reader.onNoise(sayValue(member));
    }
  } else if (!deliver(value, reader)) reader.onNoise(text);
}

function deliver(value: unknown, { onMessage }: MessageReader): boolean {
  const message = tidyMessage(value);
  if (message) onMessage(message);
  return message !== undefined;
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
