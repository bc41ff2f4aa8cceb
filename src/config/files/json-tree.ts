/** Maximum nesting of objects and lists, so that code may recurse over the value. */
export const MAX_DEPTH = 200;

/** Maximum number of values in one text: a small file can hold enough of them to exhaust the memory. */
export const MAX_VALUES = 200_000;

/** A node of the syntax tree, with its position. */
export type JsonNode = {
  readonly type: 'object' | 'list' | 'member' | 'scalar';
  readonly offset: number;
  length: number;
  /** The value of a scalar, or the name of a member. */
  readonly value?: unknown;
  /** The members of an object, the items of a list, or the value of a member, which an invalid text may lack. */
  readonly children: readonly JsonNode[];
  /** The offset of the colon of a member. */
  readonly colon?: number;
};

/** `root` is the part before the fault; undefined if the text has no value or exceeds a limit. */
type JsonTree = { readonly root: JsonNode | undefined; readonly fault?: TextFault };

/** Parses a JSON text with comments and trailing commas up to its first fault, without recursion. */
export function readTree(text: string): JsonTree {
  const reader = new TreeReader(text);
  const fault = reader.read();
  return { root: reader.root, ...(fault && { fault }) };
}

/** The next token: a value; an item, a name or the end of its container; a comma or the end; nothing. */
type Expected = 'value' | 'item' | 'name' | 'more' | 'nothing';

/** A node that may still get children. */
type OpenNode = JsonNode & { readonly children: JsonNode[] };

/** Shared by all scalars. */
const NONE: JsonNode[] = [];

class TreeReader {
  readonly #text: string;
  #at = 0;
  #expected: Expected = 'value';
  /** Objects, lists and members that are not complete yet. */
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
    if (this.#expected === 'nothing') return this.#fault('unexpected content after the end of the value');
    if (this.#expected !== 'value' && character === CLOSING[top?.type ?? '']) return this.#close();
    if (this.#expected === 'more') {
      if (character !== ',') return this.#fault('missing comma or closing bracket before this');
      this.#at++;
      this.#expected = top?.type === 'list' ? 'item' : 'name';
      return undefined;
    }
    if (this.#expected === 'name') return this.#readName(character);
    if (++this.#values > MAX_VALUES) return this.#tooMuch(`contains more than ${MAX_VALUES} values`);
    return character === '{' || character === '[' ? this.#openNode(character) : this.#readScalar(character);
  }

  #readName(character: string): TextFault | undefined {
    if (character !== '"')
      return this.#fault(/[\w'$]/.test(character) ? NOT_JSON : 'missing key in double quotes');
    const name = readString(this.#text, this.#at);
    if ('message' in name) return name;
    const colon = skipTrivia(this.#text, name.end);
    if (typeof colon !== 'number') return colon;
    if (this.#text[colon] !== ':') return { message: 'missing colon', offset: colon };
    this.#add({ type: 'member', offset: this.#at, length: 0, value: name.value, children: [], colon });
    this.#at = colon + 1;
    this.#expected = 'value';
    return undefined;
  }

  #openNode(character: '{' | '['): TextFault | undefined {
    if (++this.#depth > MAX_DEPTH)
      return this.#tooMuch(`objects and lists are nested more than ${MAX_DEPTH} deep`);
    const type = character === '{' ? 'object' : 'list';
    this.#add({ type, offset: this.#at, length: 0, children: [] });
    this.#at++;
    this.#expected = type === 'object' ? 'name' : 'item';
    return undefined;
  }

  #readScalar(character: string): TextFault | undefined {
    const read = character === '"' ? readString : readLiteral;
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

  /** Completes the innermost node, and the member whose value it is. */
  #end(): void {
    do {
      const node = this.#open.pop();
      if (node) node.length = this.#at - node.offset;
    } while (this.#open.at(-1)?.type === 'member');
    this.#expected = this.#open.length === 0 ? 'nothing' : 'more';
  }

  #finish(): TextFault | undefined {
    if (!this.root || this.#expected === 'nothing') return undefined;
    if (this.#expected === 'value') return this.#stop(this.#fault('missing value'));
    const type = this.#open.at(-1)?.type;
    return this.#stop(this.#fault(`missing closing ${CLOSING[type ?? '']}`));
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

/** The last member with the name: of duplicates the last one is used. The tree must be complete. */
export function memberNamed(object: JsonNode, name: string): JsonNode | undefined {
  const index = indexes.get(object) ?? new Map(object.children.map((member) => [member.value, member]));
  indexes.set(object, index);
  return index.get(name);
}

/** Members by name, so that looking up each member of a large object takes linear time. */
const indexes = new WeakMap<JsonNode, ReadonlyMap<unknown, JsonNode>>();

/** The value at a key path, if any. */
export function valueAt(
  root: JsonNode | undefined,
  path: readonly (string | number)[],
): JsonNode | undefined {
  let node = root;
  for (const part of path) node = node && childOf(node, part);
  return node;
}

/** The value of a node, without members that have no value. */
export function valueOfNode({ type, value, children }: JsonNode): unknown {
  if (type === 'list') return children.map(valueOfNode);
  if (type !== 'object') return value;
  const members = children.flatMap(({ value: name, children: [it] }) =>
    it ? [[name as string, valueOfNode(it)] as const] : [],
  );
  // `Object.fromEntries` makes `__proto__` an ordinary member.
  return Object.fromEntries(members);
}

/** A member whose name occurs earlier in the same object. */
type DuplicateNode = { readonly path: readonly (string | number)[]; readonly offset: number };

/** Finds at most `max` duplicates, in the order of the text. */
export function findDuplicates(root: JsonNode, max: number): DuplicateNode[] {
  const found: DuplicateNode[] = [];
  const path: (string | number)[] = [];
  look(root);
  return found;

  function look({ type, children }: JsonNode): void {
    const seen = new Set<unknown>();
    for (const [index, child] of children.entries()) {
      if (found.length >= max) return;
      path.push(type === 'object' ? String(child.value) : index);
      if (type === 'object' && seen.has(child.value)) found.push({ path: [...path], offset: child.offset });
      seen.add(child.value);
      const inner = type === 'object' ? child.children[0] : child;
      if (inner) look(inner);
      path.pop();
    }
  }
}

function childOf(node: JsonNode, part: string | number): JsonNode | undefined {
  if (node.type === 'object') return memberNamed(node, String(part))?.children[0];
  return node.type === 'list' && typeof part === 'number' ? node.children[part] : undefined;
}

/** A syntax error; the message contains nothing of the text. */
type TextFault = { readonly message: string; readonly offset: number };

/** A scalar and its end offset. */
type Token = { readonly value: unknown; readonly end: number };

/** The offset after whitespace and comments, or a fault for an unterminated comment. */
function skipTrivia(text: string, from: number): number | TextFault {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code === SLASH && text[at + 1] === '/') at = endOfLine(text, at) - 1;
    else if (code === SLASH && text[at + 1] === '*') {
      const end = text.indexOf('*/', at + 2);
      if (end < 0) return { message: 'unterminated comment; */ is missing', offset: at };
      at = end + 1;
    } else if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== RETURN) return at;
  }
}

const [TAB, LINE_FEED, RETURN, SPACE, SLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2f];

/** The offset of the end of the line. */
export function endOfLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === RETURN) return at;
  }
  return text.length;
}

/** The offset of the quote that ends the string at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text[first - 1] === '\\') first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

/** A string in double quotes. */
function readString(text: string, offset: number): Token | TextFault {
  const last = endOfString(text, offset);
  const written = text.slice(offset, last + 1);
  try {
    return { value: JSON.parse(written), end: last + 1 };
  } catch {
    return stringFault(written, offset, last >= text.length);
  }
}

function stringFault(written: string, offset: number, isOpen: boolean): TextFault {
  // Without its closing quote, a string includes the rest of the line.
  if (isOpen || /[\r\n]/.test(written))
    return { message: 'unterminated string; a double quote is missing', offset };
  for (let at = 1; at < written.length; at++) {
    if (written.charCodeAt(at) < SPACE)
      return {
        message: 'control character in a string; write it as an escape, such as \\t or \\u0001',
        offset: offset + at,
      };
    if (written[at] !== '\\') continue;
    if (!/^(?:["\\/bfnrt]|u[\da-f]{4})/i.test(written.slice(at + 1, at + 6)))
      return { message: ESCAPE, offset: offset + at };
    at++;
  }
  return { message: ESCAPE, offset };
}

const ESCAPE = 'invalid escape; write \\\\ for a backslash';

/** A number, `true`, `false` or `null`. */
function readLiteral(text: string, offset: number): Token | TextFault {
  const pattern = /[-+.\w]+/y;
  pattern.lastIndex = offset;
  const written = pattern.exec(text)?.[0] ?? '';
  if (written === '') {
    const isMissing = /[,:}\]]/.test(text[offset] ?? '');
    return { message: isMissing ? 'missing value' : NOT_JSON, offset };
  }
  try {
    return { value: JSON.parse(written), end: offset + written.length };
  } catch {
    return { message: /^[-+.\d]/.test(written) ? 'not a number' : NOT_JSON, offset };
  }
}

const NOT_JSON = 'not valid JSON; strings and keys need double quotes';
