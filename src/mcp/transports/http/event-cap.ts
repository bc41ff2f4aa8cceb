/**
 * Lets whole server-sent events through and drops those that are too long, so that one of them costs neither the memory
 * nor the stream. `onTooLong` hears of each, with the JSON-RPC id that its beginning or end shows.
 */
export class EventCap {
  readonly #limit: number;
  readonly #onTooLong: (id: number | string | undefined) => void;
  /** The event that is not over yet. */
  #held: Uint8Array[] = [];
  #size = 0;
  #lineLength = 0;
  #endedByReturn = false;
  /** What is seen of an event that is being dropped. */
  #dropped: { head: string; tail: Uint8Array } | undefined;

  constructor(limit: number, onTooLong: (id: number | string | undefined) => void) {
    this.#limit = limit;
    this.#onTooLong = onTooLong;
  }

  /** What may go on now: nothing until an event is over, then all of it as one. */
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

  /** What is left when the stream ends. */
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

/** Servers write the id of an answer before all else, or after it. */
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
