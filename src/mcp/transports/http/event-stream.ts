import type { Readable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { INTERNAL, type RpcId, rpcFailure } from '../../../protocol/json-rpc.ts';
import { normalizeLooseMessage } from '../../connection/normalize-message.ts';
import { toNetworkError } from './http-error.ts';

/** Options of an event stream. */
type EventStreamWatch = {
  /** Maximum size of an event, in bytes. */
  limit: number;
  /** Called for a dropped event; the result replaces the event. */
  onTooLong(id: number | string | undefined): string | undefined;
  /** Called when the stream ends, but not if it was cancelled. */
  onEnd?(failure?: unknown): void;
};

/** The body of a response for the official transports: without oversized events, and with normalized messages. */
export function eventStream(body: Readable, watch: EventStreamWatch): ReadableStream<Uint8Array> {
  const instead: Uint8Array[] = [];
  const cap = new EventSizeLimiter(watch.limit, (id) => {
    const text = watch.onTooLong(id);
    if (text !== undefined) instead.push(Buffer.from(text));
  });
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let isLeft = false;
  body.on('error', () => {});
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (;;) {
      const { done, value } = await chunks.next();
      const passed = done ? cap.flush() : cap.feed(value).map(normalizeEvent);
      for (const part of [...passed, ...instead.splice(0)]) controller.enqueue(part);
      if (done) controller.close();
      if (done) watch.onEnd?.();
      if (done || passed.length > 0) return;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        next(controller).catch((failure: unknown) => {
          const error = toNetworkError(failure);
          if (!isLeft) controller.error(error);
          if (!isLeft) watch.onEnd?.(error);
        }),
      cancel() {
        isLeft = true;
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
/**
 * Passes on complete server-sent events and drops oversized ones, so that they use no memory and do not break the stream.
 * `onTooLong` is called for each, with the JSON-RPC id found at its beginning or end.
 */
export class EventSizeLimiter {
  readonly #limit: number;
  readonly #onTooLong: (id: number | string | undefined) => void;
  /** The unfinished event. */
  #held: Uint8Array[] = [];
  #size = 0;
  #lineLength = 0;
  #endedByReturn = false;
  /** The kept parts of an event that is being dropped. */
  #dropped: { head: string; tail: Uint8Array } | undefined;

  constructor(limit: number, onTooLong: (id: number | string | undefined) => void) {
    this.#limit = limit;
    this.#onTooLong = onTooLong;
  }

  /** The data that can be passed on: nothing until an event is complete. */
  feed(chunk: Uint8Array): Uint8Array[] {
    const passed: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LF && this.#endedByReturn) {
        this.#endedByReturn = false;
        continue;
      }
      this.#endedByReturn = byte === CR;
      if (byte !== LF && byte !== CR) {
        this.#lineLength++;
        continue;
      }
      const isBlank = this.#lineLength === 0;
      this.#lineLength = 0;
      if (!isBlank) continue;
      this.#hold(chunk.subarray(from, at + 1));
      from = at + 1;
      this.#endEvent(passed);
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return passed;
  }

  /** The rest when the stream ends. */
  flush(): Uint8Array[] {
    const held = this.#dropped ? [] : this.#held;
    this.#held = [];
    return held;
  }

  #hold(part: Uint8Array): void {
    if (this.#dropped) {
      this.#dropped.tail = lastOf(this.#dropped.tail, part);
      return;
    }
    this.#held.push(part);
    this.#size += part.length;
    if (this.#size <= this.#limit) return;
    const head = Buffer.concat(this.#held.map((it) => it.subarray(0, EDGE))).toString('utf8', 0, EDGE);
    const tail = this.#held.reduce<Uint8Array>(lastOf, new Uint8Array());
    this.#dropped = { head, tail };
    this.#held = [];
  }

  #endEvent(passed: Uint8Array[]): void {
    if (this.#dropped) this.#onTooLong(idIn(this.#dropped.head, Buffer.from(this.#dropped.tail).toString()));
    else passed.push(this.#held.length === 1 ? (this.#held[0] as Uint8Array) : Buffer.concat(this.#held));
    this.#held = [];
    this.#size = 0;
    this.#dropped = undefined;
  }
}

const LF = 10;
const CR = 13;
const EDGE = 256;

/** Servers write the id of a response first or last. */
function idIn(head: string, tail: string): number | string | undefined {
  const first = /^data: ?\{(?:"jsonrpc": ?"2\.0", ?)?"id": ?(\d+|"[^"\\]*")/m.exec(head);
  const last = /"id": ?(\d+|"[^"\\]*")(?:, ?"jsonrpc": ?"2\.0")?\}\s*$/.exec(tail);
  const id = first?.[1] ?? last?.[1];
  return id === undefined ? undefined : (JSON.parse(id) as number | string);
}

function lastOf(tail: Uint8Array, part: Uint8Array): Uint8Array {
  if (part.length >= EDGE) return part.slice(-EDGE);
  return Buffer.concat([tail, part]).subarray(-EDGE);
}

/**
 * Normalizes the message of one event for the official transports; a batch becomes one event per message. Most events
 * are returned unchanged.
 */
export function normalizeEvent(event: Uint8Array): Uint8Array {
  const { data, others } = readEvent(event);
  if (data === undefined || data === '') return event;
  const value = parse(data);
  const given = Array.isArray(value) ? value : [value];
  const tidied = given.map(normalizeLooseMessage).filter((it) => it !== undefined);
  if (tidied.length === 0 || (value === tidied[0] && tidied.length === 1)) return event;
  return Buffer.from(tidied.map((message) => `${others}data: ${write(message)}\n\n`).join(''));
}

/** `data` is undefined for an event without a message; `others` are its other lines. */
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

/** A value that is nested too deep can be parsed but not serialized. */
function write(message: JSONRPCMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    if ('method' in message) return '';
    return JSON.stringify(rpcFailure(message.id as RpcId, INTERNAL, 'its response is nested too deeply'));
  }
}
