/** A value of a PDF file. Strings, booleans and null are only copied, so their content is not kept. */
export type PdfValue =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'reference'; readonly id: number }
  | { readonly kind: 'array'; readonly items: readonly PdfValue[] }
  | { readonly kind: 'dictionary'; readonly entries: PdfEntries }
  | { readonly kind: 'other' };

/** The members of a dictionary by name without the slash, each with its text in the file. */
export type PdfEntries = ReadonlyMap<string, PdfEntry>;
export type PdfEntry = { readonly value: PdfValue; readonly raw: string };

/** A file that does not have the structure of a PDF; the message is the second half of a sentence. */
export class PdfError extends Error {
  override readonly name = 'PdfError';
}

/** Reads values from the text of a file, in which each character is a byte. Throws `PdfError` for invalid text. */
export class PdfSyntax {
  readonly text: string;
  /** The position of the next character. */
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** Reads one value; nesting deeper than `MAX_DEPTH` is an error. */
  value(depth = 0): PdfValue {
    if (depth > MAX_DEPTH) throw new PdfError('its objects are nested too deeply');
    this.skipSpace();
    const { text, at } = this;
    switch (text[at]) {
      case '/':
        return { kind: 'name', name: this.#name() };
      case '(':
        return this.#literalString();
      case '[':
        return this.#array(depth);
      case '<':
        return text[at + 1] === '<' ? this.#dictionary(depth) : this.#hexString();
    }
    const reference = this.take(REFERENCE);
    if (reference) return { kind: 'reference', id: Number(reference[1]) };
    const number = this.take(NUMBER);
    if (number) return { kind: 'number', value: Number(number[0]) || 0 };
    if (!this.take(WORD)) throw new PdfError(`it has no valid value at byte ${at}`);
    return { kind: 'other' };
  }

  /** Skips white space and comments. */
  skipSpace(): void {
    const { text } = this;
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (isSpace(code)) this.at++;
      else if (code === PERCENT) {
        while (this.at < text.length && text[this.at] !== '\n' && text[this.at] !== '\r') this.at++;
      } else return;
    }
  }

  /** Matches a sticky expression at the current position and moves past the match; undefined if it does not match. */
  take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    if (!found) return undefined;
    this.at = expression.lastIndex;
    return found;
  }

  #name(): string {
    const name = this.take(NAME)?.[1] ?? '';
    return name.replaceAll(/#([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }

  #literalString(): PdfValue {
    let open = 0;
    for (; this.at < this.text.length; this.at++) {
      const character = this.text[this.at];
      if (character === '\\') this.at++;
      else if (character === '(') open++;
      else if (character === ')' && --open === 0) {
        this.at++;
        return { kind: 'other' };
      }
    }
    throw new PdfError('a string in it has no end');
  }

  #hexString(): PdfValue {
    const end = this.text.indexOf('>', this.at);
    if (end === -1) throw new PdfError('a string in it has no end');
    this.at = end + 1;
    return { kind: 'other' };
  }

  #array(depth: number): PdfValue {
    const items: PdfValue[] = [];
    this.at++;
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] === ']') break;
      items.push(this.value(depth + 1));
    }
    this.at++;
    return { kind: 'array', items };
  }

  #dictionary(depth: number): PdfValue {
    const entries = new Map<string, PdfEntry>();
    this.at += 2;
    for (;;) {
      this.skipSpace();
      if (this.text.startsWith('>>', this.at)) break;
      if (this.text[this.at] !== '/') throw new PdfError(`a dictionary in it is damaged at byte ${this.at}`);
      const name = this.#name();
      this.skipSpace();
      const start = this.at;
      const value = this.value(depth + 1);
      entries.set(name, { value, raw: this.text.slice(start, this.at) });
    }
    this.at += 2;
    return { kind: 'dictionary', entries };
  }
}

/** The ids of the objects that a value refers to. */
export function* referencesIn(value: PdfValue): Generator<number> {
  switch (value.kind) {
    case 'reference':
      yield value.id;
      break;
    case 'array':
      for (const item of value.items) yield* referencesIn(item);
      break;
    case 'dictionary':
      for (const { value: member } of value.entries.values()) yield* referencesIn(member);
      break;
    case 'number':
    case 'name':
    case 'other':
      break;
  }
}

const MAX_DEPTH = 100;
const PERCENT = 0x25;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0x0c || code === 0;
}

const NAME = /\/([^\0\t\n\f\r ()<>[\]{}/%]*)/y;
const REFERENCE = /(\d{1,10})[\0\t\n\f\r ]{1,20}\d{1,5}[\0\t\n\f\r ]{1,20}R(?![^\0\t\n\f\r ()<>[\]{}/%])/y;
const NUMBER = /[+\-.\d]+/y;
const WORD = /[^\0\t\n\f\r ()<>[\]{}/%]+/y;
