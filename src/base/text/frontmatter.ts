/** A value of the frontmatter. */
export type FieldValue = string | number | boolean | null | readonly string[];

/** A field with the line of its key, counted from 1. */
type Field = { readonly value: FieldValue; readonly line: number };

/** A problem in a file; `line` is counted from 1. */
export type LineProblem = { readonly line: number; readonly message: string };

export type Frontmatter = {
  readonly fields: ReadonlyMap<string, Field>;
  /** The lines of fields with nested values, which are not among `fields`. */
  readonly nested: ReadonlyMap<string, readonly string[]>;
  /** The text after the frontmatter, without blank lines at its start. */
  readonly body: string;
  readonly problems: readonly LineProblem[];
};

/** Maximum number of fields, more than any definition has. */
const MAX_FIELDS = 100;

/**
 * Parses a Markdown file with optional frontmatter: scalars, quoted texts, block texts (`|`, `>`) and lists of texts. This
 * is less than YAML, because many files are not valid YAML (`argument-hint: [file] [line]`, texts with colons), and no
 * field needs more. Values that need more, such as nested maps, are problems; the other fields are still used.
 */
export function parseFrontmatter(text: string): Frontmatter {
  const normalized = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const lines = normalized.split('\n');
  if (!isFence(lines[0])) return { ...NO_FIELDS, body: trimStart(normalized), problems: [] };
  const end = lines.findIndex((line, at) => at > 0 && isFence(line));
  if (end === -1) {
    const problem = { line: 1, message: 'the frontmatter has no closing "---"' };
    return { ...NO_FIELDS, body: trimStart(normalized), problems: [problem] };
  }
  const reader = new FieldReader(lines.slice(1, end));
  return { ...reader.read(), body: trimStart(lines.slice(end + 1).join('\n')) };
}

const NO_FIELDS = { fields: new Map(), nested: new Map() };

function isFence(line: string | undefined): boolean {
  return line !== undefined && line.trimEnd() === '---';
}

function trimStart(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '');
}

class FieldReader {
  readonly #lines: readonly string[];
  readonly #fields = new Map<string, Field>();
  readonly #nested = new Map<string, readonly string[]>();
  readonly #problems: LineProblem[] = [];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): Omit<Frontmatter, 'body'> {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] as string;
      const found = /^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$/.exec(line);
      if (found) this.#readField(found[1] as string, found[2]?.trim() ?? '');
      else {
        if (!isIgnored(line)) this.#report(this.#at, 'expected "name: value"');
        this.#at++;
      }
    }
    return { fields: this.#fields, nested: this.#nested, problems: this.#problems };
  }

  #readField(name: string, rest: string): void {
    const start = this.#at++;
    if (this.#fields.has(name)) this.#report(start, `"${name}" is given twice; the last value is used`);
    const value = this.#readValue(name, rest, start);
    if (value === undefined) return;
    if (this.#fields.size < MAX_FIELDS) this.#fields.set(name, { value, line: lineOf(start) });
    else this.#report(start, `"${name}" is ignored: the frontmatter has more than ${MAX_FIELDS} fields`);
  }

  #readValue(name: string, rest: string, start: number): FieldValue | undefined {
    const block = /^([|>])[+-]?\d?(?:[ \t]+#.*)?$/.exec(rest);
    if (block) return blockText(this.#indented(), block[1] === '>');
    if (rest === '' || rest.startsWith('#')) return this.#readBelow(name, start);
    const quoted = quotedText(rest);
    if (quoted !== undefined) return quoted;
    const list = flowList(rest);
    if (list) return list;
    const continued = this.#indented().map((line) => line.trim());
    const plain = [withoutComment(rest), ...continued.filter((line) => line !== '')].join(' ');
    return continued.length > 0 ? plain : scalar(plain);
  }

  /** A list on the following lines; an empty field is null. */
  #readBelow(name: string, start: number): FieldValue | undefined {
    const items: string[] = [];
    let isNested = false;
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] as string;
      const item = /^[ \t]*-(?:[ \t]+(.*))?$/.exec(line)?.[1]?.trim();
      if (item !== undefined && !/^[\w.-]+:[ \t]/.test(item))
        items.push(quotedText(item) ?? withoutComment(item));
      else if (isIgnored(line)) continue;
      else if (item !== undefined || /^[ \t]/.test(line)) isNested = true;
      else break;
    }
    if (isNested) {
      this.#nested.set(name, this.#lines.slice(start + 1, this.#at));
      this.#report(start, `"${name}" has nested values, which are not supported; the field is ignored`);
      return undefined;
    }
    return items.length > 0 ? items : null;
  }

  /** The following lines that are indented or blank. */
  #indented(): string[] {
    const start = this.#at;
    while (this.#at < this.#lines.length && /^(?:[ \t]|$)/.test(this.#lines[this.#at] as string)) this.#at++;
    return this.#lines.slice(start, this.#at) as string[];
  }

  #report(at: number, message: string): void {
    this.#problems.push({ line: lineOf(at), message });
  }
}

/** The first line of the file is the fence. */
function lineOf(at: number): number {
  return at + 2;
}

function isIgnored(line: string): boolean {
  return /^[ \t]*(?:#.*)?$/.test(line);
}

function withoutComment(text: string): string {
  return text.replace(/[ \t]+#.*$/, '').trim();
}

/** `|` keeps the lines, `>` joins those of a paragraph. */
function blockText(lines: readonly string[], isFolded: boolean): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0].length);
  const indent = Math.min(...indents.map((it) => it ?? 0), Number.MAX_SAFE_INTEGER);
  const own = lines.map((line) => line.slice(indent));
  const text = isFolded ? own.join('\n').replace(/(?<=\S)\n(?=\S)/g, ' ') : own.join('\n');
  return text.trimEnd();
}

/** A text in double or single quotes, maybe followed by a comment. */
function quotedText(text: string): string | undefined {
  const double = /^"((?:[^"\\]|\\.)*)"(?:[ \t]+#.*)?$/.exec(text)?.[1];
  if (double !== undefined) return double.replace(/\\(.)/g, (_, it: string) => ESCAPES[it] ?? it);
  const single = /^'((?:[^']|'')*)'(?:[ \t]+#.*)?$/.exec(text)?.[1];
  return single?.replaceAll("''", "'");
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '' };

/** `[a, "b"]`; a text such as `[file] [line]` is not a list. */
function flowList(text: string): readonly string[] | undefined {
  const inner = /^\[((?:[^[\]"']|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')*)\](?:[ \t]+#.*)?$/.exec(text)?.[1];
  if (inner === undefined) return undefined;
  return splitTexts(inner).map((item) => quotedText(item) ?? item);
}

function scalar(text: string): FieldValue {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (text === '~' || text === 'null') return null;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Splits at commas outside of quotes and parentheses; empty items are left out. */
export function splitTexts(text: string): string[] {
  const items: string[] = [''];
  let quote = '';
  let depth = 0;
  for (const character of text) {
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = depth === 0 ? character : '';
    else if (character === '(') depth++;
    else if (character === ')') depth = Math.max(0, depth - 1);
    if (character === ',' && quote === '' && depth === 0) items.push('');
    else items[items.length - 1] += character;
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/** Reads the fields of one definition, and collects what is wrong with them. */
export class Fields {
  readonly problems: LineProblem[];
  readonly #fields: Frontmatter['fields'];
  readonly #used = new Set<string>();

  constructor({ fields, problems }: Frontmatter) {
    this.#fields = fields;
    this.problems = [...problems];
  }

  /** A text; numbers and words such as `true` are texts too. */
  text(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null) return undefined;
    return Array.isArray(value) ? value.join(', ') : String(value);
  }

  /** A list, or a text with commas; `separator` splits a text at blanks as well. */
  list(name: string, separator: 'comma' | 'blank' = 'comma'): readonly string[] | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value)) return value;
    const items = splitTexts(String(value));
    return separator === 'comma' ? items : items.flatMap((item) => item.split(/\s+/));
  }

  flag(name: string): boolean | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined;
    this.report(name, 'must be true or false');
    return undefined;
  }

  count(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number' && value > 0) return value;
    this.report(name, 'must be a whole number above 0');
    return undefined;
  }

  word<const T extends string>(name: string, words: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = words.find((it) => it === value);
    if (found === undefined) this.report(name, `must be one of ${words.join(', ')}`);
    return found;
  }

  /** Marks fields of other programs as known. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#used.add(name);
  }

  /** Adds a problem for each of these fields that the definition has. */
  reportUnsupported(...names: readonly string[]): void {
    for (const name of names)
      if (this.#take(name) !== undefined) this.report(name, 'has no effect with this agent');
  }

  /** Adds a problem of a field. */
  report(name: string, message: string): void {
    const line = this.#fields.get(name)?.line ?? 1;
    this.problems.push({ line, message: `"${name}" ${message}` });
  }

  /** Adds a problem for each field that nothing has read. */
  reportUnknown(): void {
    for (const name of this.#fields.keys())
      if (!this.#used.has(name)) this.report(name, 'is not a known field');
  }

  #take(name: string): FieldValue | undefined {
    this.#used.add(name);
    return this.#fields.get(name)?.value;
  }
}
