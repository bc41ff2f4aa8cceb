import { inflateSync } from 'node:zlib';
import { type PdfEntries, PdfError, PdfSyntax, type PdfValue } from './media-pdf-syntax.ts';

/** An object of a PDF file. */
export type PdfObject = {
  readonly generation: number;
  readonly value: PdfValue;
  /** The text of the value. */
  readonly raw: string;
  /** Where the data of a stream begins in the file. */
  readonly streamStart?: number;
};

/** Where an object is: at an offset of the file, or in an object stream. */
type Place = { readonly offset: number } | { readonly container: number } | 'free';

/** The objects in an object stream: by id, where the text of each begins. */
type Container = { readonly text: string; readonly offsets: ReadonlyMap<number, number> };

/**
 * The objects of a PDF file, found through its cross-reference tables and streams. With `isRepairing`, the tables are ignored
 * and the file is searched for objects. Throws `PdfError` for a damaged file.
 */
export class PdfObjects {
  readonly text: string;
  /** The members of all trailers; of members with the same name, that of the newest trailer. */
  readonly trailer = new Map<string, PdfValue>();
  readonly #places = new Map<number, Place>();
  /** The opened object streams; undefined for one that is being opened or is damaged. */
  readonly #containers = new Map<number, Container | undefined>();
  #isInLength = false;
  #work = 0;

  /** `text` has one character per byte and begins with the header. */
  constructor(text: string, { isRepairing }: { readonly isRepairing: boolean }) {
    this.text = text;
    if (isRepairing) this.#search();
    else this.#readTables();
  }

  /** The largest id of an object. */
  get maxId(): number {
    let max = 0;
    for (const id of this.#places.keys()) max = Math.max(max, id);
    return max;
  }

  /** The object with an id; undefined if it does not exist, which PDF treats as null. */
  object(id: number): PdfObject | undefined {
    const place = this.#places.get(id);
    if (place === undefined || place === 'free') return undefined;
    if ('offset' in place) return this.#objectAt(place.offset, id);
    const { text, offsets } = this.#container(place.container);
    const at = offsets.get(id);
    return at === undefined ? undefined : { generation: 0, ...this.#valueAt(new PdfSyntax(text, at)) };
  }

  /** The data of a stream as it is in the file; undefined for other objects. */
  streamData({ value, streamStart }: PdfObject): string | undefined {
    if (streamStart === undefined || value.kind !== 'dictionary') return undefined;
    return this.text.slice(streamStart, streamStart + this.#streamLength(value.entries, streamStart));
  }

  /** The value, or the value of the object that it refers to. */
  resolve(value: PdfValue | undefined): PdfValue | undefined {
    let found = value;
    for (let hops = 0; found?.kind === 'reference'; hops++) {
      if (hops > MAX_HOPS) throw new PdfError('its references form a loop');
      found = this.object(found.id)?.value;
    }
    return found;
  }

  /** The members of a dictionary or of the object that it refers to; undefined for other values. */
  entries(value: PdfValue | undefined): PdfEntries | undefined {
    const found = this.resolve(value);
    return found?.kind === 'dictionary' ? found.entries : undefined;
  }

  #readTables(): void {
    const [, start] = this.text.slice(-TAIL).match(/.*startxref\s{1,20}(\d{1,10})/s) ?? [];
    if (start === undefined) throw new PdfError('its end is missing');
    const waiting = [Number(start)];
    const visited = new Set<number>();
    for (let offset = waiting.shift(); offset !== undefined; offset = waiting.shift()) {
      if (visited.has(offset)) continue;
      visited.add(offset);
      if (visited.size > MAX_TABLES) throw new PdfError('it has too many cross-reference tables');
      const syntax = new PdfSyntax(this.text, offset);
      syntax.skipSpace();
      const trailer = syntax.take(/xref/y) ? this.#readTable(syntax) : this.#readTableStream(syntax.at);
      for (const [name, { value }] of trailer) if (!this.trailer.has(name)) this.trailer.set(name, value);
      for (const name of ['XRefStm', 'Prev']) {
        const next = trailer.get(name)?.value;
        if (next?.kind === 'number') waiting.push(next.value);
      }
    }
  }

  #readTable(syntax: PdfSyntax): PdfEntries {
    for (;;) {
      syntax.skipSpace();
      if (syntax.take(/trailer/y)) {
        const { value } = this.#valueAt(syntax);
        if (value.kind === 'dictionary') return value.entries;
      }
      const start = syntax.at;
      const [, first, count] = syntax.take(SECTION) ?? [];
      if (first === undefined) throw new PdfError('its cross-reference table is damaged');
      for (let id = Number(first); id < Number(first) + Number(count); id++) {
        syntax.skipSpace();
        const [, offset, kind] = syntax.take(ROW) ?? [];
        if (offset === undefined) throw new PdfError('its cross-reference table is damaged');
        this.#place(id, kind === 'f' ? 'free' : { offset: Number(offset) });
      }
      this.#spend(syntax.at - start);
    }
  }

  #readTableStream(offset: number): PdfEntries {
    const { entries, data } = this.#structure(this.#objectAt(offset));
    const widths = numbers(entries.get('W')?.value);
    const [kindWidth = 0, secondWidth = 0, thirdWidth = 0] = widths;
    const size = numbers(entries.get('Size')?.value)[0] ?? 0;
    const ranges = entries.has('Index') ? numbers(entries.get('Index')?.value) : [0, size];
    const isValid =
      widths.length >= 3 && widths.every((it) => it >= 0 && it <= 6) && kindWidth + secondWidth > 0;
    if (!isValid) throw new PdfError('its cross-reference stream is damaged');
    let at = 0;
    const field = (width: number, absent: number): number => {
      if (width === 0) return absent;
      at += width;
      return data.readUIntBE(at - width, width);
    };
    const row = kindWidth + secondWidth + thirdWidth;
    for (let range = 0; range + 1 < ranges.length; range += 2) {
      const [first = 0, count = 0] = ranges.slice(range, range + 2);
      for (let id = first; id < first + count && at + row <= data.length; id++) {
        const kind = field(kindWidth, 1);
        const second = field(secondWidth, 0);
        at += thirdWidth;
        if (kind === 1) this.#place(id, { offset: second });
        else if (kind === 2) this.#place(id, { container: second });
        else this.#place(id, 'free');
      }
    }
    return entries;
  }

  /** The newest table is read first, so the first place of an object counts. */
  #place(id: number, place: Place): void {
    if (this.#places.size >= MAX_OBJECTS) throw new PdfError('it has too many objects');
    if (!this.#places.has(id)) this.#places.set(id, place);
  }

  /** Finds the objects of a file whose tables are damaged; the last definition of an object counts. */
  #search(): void {
    for (const found of this.text.matchAll(/(\d{1,10})[\0\t\n\f\r ]{1,20}\d{1,5}[\0\t\n\f\r ]{1,20}obj\b/g)) {
      if (this.#places.size >= MAX_OBJECTS) throw new PdfError('it has too many objects');
      this.#places.set(Number(found[1]), { offset: found.index });
    }
    for (const id of [...this.#places.keys()]) {
      const entries = this.#tolerate(() => this.entries({ kind: 'reference', id }));
      const type = nameOf(entries?.get('Type')?.value);
      if (type === 'ObjStm') {
        const inside = this.#tolerate(() => this.#container(id));
        for (const inner of inside?.offsets.keys() ?? []) this.#place(inner, { container: id });
      }
      if (type === 'XRef') for (const [name, { value }] of entries ?? []) this.trailer.set(name, value);
      if (type === 'Catalog') this.trailer.set('Root', { kind: 'reference', id });
    }
    for (const { index } of this.text.matchAll(/\btrailer\b/g)) {
      const found = this.#tolerate(() => this.#valueAt(new PdfSyntax(this.text, index + 'trailer'.length)));
      for (const [name, { value }] of this.entries(found?.value) ?? []) this.trailer.set(name, value);
    }
  }

  #objectAt(offset: number, id?: number): PdfObject {
    const syntax = new PdfSyntax(this.text, offset);
    syntax.skipSpace();
    const head = syntax.take(HEAD);
    if (!head || (id !== undefined && Number(head[1]) !== id)) {
      throw new PdfError(`object ${id ?? ''} is not at byte ${offset}`);
    }
    const found = { generation: Number(head[2]), ...this.#valueAt(syntax) };
    syntax.skipSpace();
    const isStream = found.value.kind === 'dictionary' && syntax.take(STREAM);
    return isStream ? { ...found, streamStart: syntax.at } : found;
  }

  /** The declared length if the stream ends there, else the distance to the end marker. */
  #streamLength(entries: PdfEntries, start: number): number {
    const length = this.#declaredLength(entries.get('Length')?.value);
    if (length !== undefined) {
      const syntax = new PdfSyntax(this.text, start + length);
      syntax.take(/[\0\t\n\f\r ]{1,4}/y);
      if (syntax.take(/endstream/y)) return length;
    }
    const end = this.text.indexOf('endstream', start);
    this.#spend((end === -1 ? this.text.length : end) - start);
    if (end === -1) throw new PdfError('a stream in it has no end');
    const lineEnd = /\r\n$|[\r\n]$/.exec(this.text.slice(Math.max(start, end - 2), end))?.[0] ?? '';
    return end - start - lineEnd.length;
  }

  /** A length can be an object of its own, which must not be in a stream that needs this length. */
  #declaredLength(declared: PdfValue | undefined): number | undefined {
    let length = declared;
    if (declared?.kind === 'reference') {
      if (this.#isInLength) return undefined;
      this.#isInLength = true;
      length = this.#tolerate(() => this.resolve(declared));
      this.#isInLength = false;
    }
    return length?.kind === 'number' && length.value >= 0 ? length.value : undefined;
  }

  #container(id: number): Container {
    const known = this.#containers.get(id);
    if (known) return known;
    const place = this.#places.get(id);
    const isPlaced = place !== undefined && place !== 'free' && 'offset' in place;
    if (!isPlaced || this.#containers.has(id))
      throw new PdfError(`object stream ${id} is missing or damaged`);
    this.#containers.set(id, undefined);
    const { entries, data } = this.#structure(this.#objectAt(place.offset, id));
    const text = data.toString('latin1');
    const [count = 0] = numbers(entries.get('N')?.value);
    const [first = 0] = numbers(entries.get('First')?.value);
    const head = new PdfSyntax(text);
    const offsets = new Map<number, number>();
    for (let index = 0; index < Math.min(count, MAX_OBJECTS); index++) {
      head.skipSpace();
      const [, inner, offset] = head.take(INNER) ?? [];
      if (inner === undefined) throw new PdfError(`object stream ${id} is damaged`);
      offsets.set(Number(inner), first + Number(offset));
    }
    const container = { text, offsets };
    this.#containers.set(id, container);
    return container;
  }

  /** The data of a stream that contains structure. Only the compression that such streams use is supported. */
  #structure(object: PdfObject): { readonly entries: PdfEntries; readonly data: Buffer } {
    const raw = this.streamData(object);
    if (raw === undefined || object.value.kind !== 'dictionary')
      throw new PdfError('a stream in it is missing');
    const { entries } = object.value;
    const data = Buffer.from(raw, 'latin1');
    const filter = single(this.resolve(entries.get('Filter')?.value));
    if (filter === undefined) return { entries, data };
    if (nameOf(filter) !== 'FlateDecode') throw new PdfError('it uses a compression that is not supported');
    const parameters = this.entries(single(this.resolve(entries.get('DecodeParms')?.value)));
    const [predictor = 1] = numbers(parameters?.get('Predictor')?.value);
    const [columns = 1] = numbers(parameters?.get('Columns')?.value);
    const isSupported = predictor === 1 || (predictor >= 10 && columns >= 1 && columns <= 1_000);
    if (!isSupported) throw new PdfError('it uses a compression that is not supported');
    const inflated = inflate(data);
    this.#spend(inflated.length);
    return { entries, data: predictor === 1 ? inflated : undoPrediction(inflated, columns) };
  }

  #valueAt(syntax: PdfSyntax): { readonly value: PdfValue; readonly raw: string } {
    syntax.skipSpace();
    const start = syntax.at;
    try {
      return { value: syntax.value(), raw: syntax.text.slice(start, syntax.at) };
    } finally {
      this.#spend(syntax.at - start);
    }
  }

  /** Limits the time for a file whose objects overlap. */
  #spend(characters: number): void {
    this.#work += characters;
    if (this.#work > MAX_WORK) throw new PdfError('it is too complex');
  }

  #tolerate<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (thrown) {
      if (thrown instanceof PdfError && this.#work <= MAX_WORK) return undefined;
      throw thrown;
    }
  }
}

const MAX_HOPS = 20;
/** How many bytes at the end of a file are searched for the position of the first table. */
const TAIL = 2_048;
const MAX_TABLES = 1_000;
const MAX_OBJECTS = 1_000_000;
const MAX_INFLATED = 64_000_000;
/** Maximum number of characters of one file that may be parsed, searched or decompressed. */
const MAX_WORK = 500_000_000;

const HEAD = /(\d{1,10})[\0\t\n\f\r ]{1,20}(\d{1,5})[\0\t\n\f\r ]{1,20}obj/y;
const STREAM = /stream(?:\r\n|\n|\r)?/y;
const SECTION = /(\d{1,10})[ \t]{1,20}(\d{1,10})/y;
const ROW = /(\d{1,10})[ \t]{1,20}\d{1,5}[ \t]{1,20}([nf])/y;
const INNER = /(\d{1,10})\s{1,20}(\d{1,10})/y;

/** The text of a name; undefined for other values. */
export function nameOf(value: PdfValue | undefined): string | undefined {
  return value?.kind === 'name' ? value.name : undefined;
}

/** The numbers in a value that is a number or a list of numbers. */
function numbers(value: PdfValue | undefined): number[] {
  if (value?.kind === 'number') return [value.value];
  return value?.kind === 'array'
    ? value.items.flatMap((item) => (item.kind === 'number' ? [item.value] : []))
    : [];
}

/** A value, or the only member of a list; undefined for an empty list. */
function single(value: PdfValue | undefined): PdfValue | undefined {
  if (value?.kind !== 'array') return value?.kind === 'other' ? undefined : value;
  if (value.items.length > 1) throw new PdfError('it uses a compression that is not supported');
  return value.items[0];
}

/** Reverses the PNG filters, which precede each row of `columns` bytes. */
function undoPrediction(data: Buffer, columns: number): Buffer {
  const rows = Math.floor(data.length / (columns + 1));
  const output = Buffer.alloc(rows * columns);
  for (let row = 0; row < rows; row++) {
    const filter = data[row * (columns + 1)] ?? 0;
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      const left = column > 0 ? (output[at - 1] as number) : 0;
      const above = row > 0 ? (output[at - columns] as number) : 0;
      const corner = column > 0 && row > 0 ? (output[at - columns - 1] as number) : 0;
      let predicted = 0;
      if (filter === 1) predicted = left;
      else if (filter === 2) predicted = above;
      else if (filter === 3) predicted = (left + above) >> 1;
      else if (filter === 4) predicted = paeth(left, above, corner);
      output[at] = (data[row * (columns + 1) + 1 + column] as number) + predicted;
    }
  }
  return output;
}

function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const byLeft = Math.abs(estimate - left);
  const byAbove = Math.abs(estimate - above);
  const byCorner = Math.abs(estimate - corner);
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}

function inflate(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: MAX_INFLATED });
  } catch (cause) {
    throw new PdfError('a compressed part of it is damaged', { cause });
  }
}
