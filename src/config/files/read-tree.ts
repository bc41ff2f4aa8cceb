import { NO_WORD, readString, readWord, skipTrivia, type TextFault } from './json-words.ts';
import { MAX_DEPTH, MAX_VALUES } from './plain-json.ts';

/** A part of a text: where it stands and what it is. */
export type JsonNode = {
  readonly type: 'object' | 'list' | 'member' | 'scalar';
  readonly offset: number;
  length: number;
  /** Of a scalar; of a member, its name. */
  readonly value?: unknown;
  /** The members of an object, the items of a list, the value of a member; a broken text may end before that. */
  readonly children: readonly JsonNode[];
  /** Where the colon of a member stands. */
  readonly colon?: number;
};

/** `root` is as far as the text could be read: undefined if there is nothing but blanks and comments, or it is too much. */
export type JsonTree = { readonly root: JsonNode | undefined; readonly fault?: TextFault };

/** Reads a JSON text with comments and trailing commas up to its first fault, without calling itself. */
export function readTree(text: string): JsonTree {
  const reader = new TreeReader(text);
  const fault = reader.read();
  return { root: reader.root, ...(fault && { fault }) };
}

/** What may come next: a value; an item of a list, a name of an object, or their end; a comma or an end; nothing. */
type Expected = 'value' | 'item' | 'name' | 'more' | 'nothing';

/** A part that may still get some of its own. */
type OpenNode = JsonNode & { readonly children: JsonNode[] };

/** Most parts of a text have none. */
const NONE: JsonNode[] = [];

class TreeReader {
  readonly #text: string;
  #at = 0;
  #expected: Expected = 'value';
  /** Objects, lists and members that have not ended yet. */
  readonly #open: OpenNode[] = [];
  #depth = 0;
  #values = 0;
  root: JsonNode | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): TextFault | undefined {
    for (;;) {
      const next = skipTrivia(this.#text, this.#at);
      if (typeof next !== 'number') return this.#stop(next);
      this.#at = next;
      if (next >= this.#text.length) return this.#finish();
      const fault = this.#step(this.#text[next] as string);
      if (fault) return this.#stop(fault);
    }
  }

  #step(character: string): TextFault | undefined {
    const top = this.#open.at(-1);
    if (this.#expected === 'nothing') return this.#fault('there is more after the end of the value');
    if (this.#expected !== 'value' && character === CLOSING[top?.type ?? '']) return this.#close();
    if (this.#expected === 'more') {
      if (character !== ',') return this.#fault('a comma or a closing bracket is missing before this');
      this.#at++;
      this.#expected = top?.type === 'list' ? 'item' : 'name';
      return undefined;
    }
    if (this.#expected === 'name') return this.#readName(character);
    if (++this.#values > MAX_VALUES) return this.#tooMuch(`it holds more than ${MAX_VALUES} values`);
    return character === '{' || character === '[' ? this.#openNode(character) : this.#readScalar(character);
  }

  #readName(character: string): TextFault | undefined {
    if (character !== '"')
      return this.#fault(/[\w'$]/.test(character) ? NO_WORD : 'a name in double quotes is missing here');
    const name = readString(this.#text, this.#at);
    if ('message' in name) return name;
    const colon = skipTrivia(this.#text, name.end);
    if (typeof colon !== 'number') return colon;
    if (this.#text[colon] !== ':') return { message: 'a colon is missing here', offset: colon };
    this.#add({ type: 'member', offset: this.#at, length: 0, value: name.value, children: [], colon });
    this.#at = colon + 1;
    this.#expected = 'value';
    return undefined;
  }

  #openNode(character: '{' | '['): TextFault | undefined {
    if (++this.#depth > MAX_DEPTH)
      return this.#tooMuch(`objects and lists stand in each other more than ${MAX_DEPTH} deep`);
    const type = character === '{' ? 'object' : 'list';
    this.#add({ type, offset: this.#at, length: 0, children: [] });
    this.#at++;
    this.#expected = type === 'object' ? 'name' : 'item';
    return undefined;
  }

  #readScalar(character: string): TextFault | undefined {
    const read = character === '"' ? readString : readWord;
    const word = read(this.#text, this.#at);
    if ('message' in word) return word;
    this.#add({ type: 'scalar', offset: this.#at, length: 0, value: word.value, children: NONE });
    this.#at = word.end;
    this.#end();
    return undefined;
  }

  #close(): undefined {
    this.#at++;
    this.#depth--;
    this.#end();
  }

  #add(node: OpenNode): void {
    this.root ??= node;
    this.#open.at(-1)?.children.push(node);
    this.#open.push(node);
  }

  /** The innermost ends here, and with it the member whose value it is. */
  #end(): void {
    do {
      const node = this.#open.pop();
      if (node) node.length = this.#at - node.offset;
    } while (this.#open.at(-1)?.type === 'member');
    this.#expected = this.#open.length === 0 ? 'nothing' : 'more';
  }

  #finish(): TextFault | undefined {
    if (!this.root || this.#expected === 'nothing') return undefined;
    if (this.#expected === 'value') return this.#stop(this.#fault('a value is missing here'));
    const type = this.#open.at(-1)?.type;
    return this.#stop(this.#fault(`a closing ${CLOSING[type ?? '']} is missing`));
  }

  #tooMuch(message: string): TextFault {
    this.root = undefined;
    return this.#fault(message);
  }

  #fault(message: string): TextFault {
    return { message, offset: this.#at };
  }

  #stop(fault: TextFault): TextFault {
    for (const node of this.#open) node.length = fault.offset - node.offset;
    return fault;
  }
}

const CLOSING: Readonly<Record<string, string>> = { object: '}', list: ']' };
