import { graphemes } from '../terminal-text.ts';

/** A text being edited. `cursor` is an index into `text`; `killed` is the text that Ctrl-Y inserts. */
export type TextInput = { readonly text: string; readonly cursor: number; readonly killed: string };

/** A key as `node:readline` decodes it. */
export type Key = {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly shift?: boolean | undefined;
};

export const EMPTY_INPUT: TextInput = { text: '', cursor: 0, killed: '' };

/** Applies a key to the text; `undefined` if the key does not edit text. */
export function editText(input: TextInput, key: Key): TextInput | undefined {
  const edit = EDITS[keyName(key)];
  if (edit) return edit(input);
  const typed = typedText(key);
  return typed === undefined ? undefined : insertText(input, typed);
}

/** The name of a key with its modifiers: `ctrl-a`, `meta-b`, `left`. */
export function keyName({ name, sequence, ctrl, meta, shift }: Key): string {
  const base = name ?? sequence ?? '';
  // readline reports a single Esc as Alt and Esc.
  if (base === 'escape') return base;
  return `${ctrl ? 'ctrl-' : ''}${meta ? 'meta-' : ''}${shift && base === 'tab' ? 'shift-' : ''}${base}`;
}

/** The printable text of a key; `undefined` for control keys. */
export function typedText({ sequence, ctrl, meta }: Key): string | undefined {
  if (ctrl || meta || sequence === undefined || sequence === '') return undefined;
  // Control characters are keys, and escape sequences start with one.
  return /^[\p{Cc}]/u.test(sequence) ? undefined : sequence;
}

export function insertText({ text, cursor, killed }: TextInput, added: string): TextInput {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length, killed };
}

/** Replaces the text from `from` to the cursor. */
export function replaceBefore(input: TextInput, from: number, by: string): TextInput {
  return insertText(remove(input, from, input.cursor), by);
}

/** The row and the column of the cursor among the lines of the text, and the number of lines. */
export function cursorLine({ text, cursor }: TextInput): {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
} {
  const before = text.slice(0, cursor).split('\n');
  return { row: before.length - 1, column: before.at(-1)?.length ?? 0, rows: text.split('\n').length };
}

/** Moves the cursor by lines; `undefined` if there is no such line. */
export function moveLine(input: TextInput, by: 1 | -1): TextInput | undefined {
  const { row, column, rows } = cursorLine(input);
  const target = row + by;
  if (target < 0 || target >= rows) return undefined;
  const lines = input.text.split('\n');
  const start = lines.slice(0, target).reduce((sum, line) => sum + line.length + 1, 0);
  return { ...input, cursor: start + Math.min(column, lines[target]?.length ?? 0) };
}

type Edit = (input: TextInput) => TextInput;

const EDITS: Readonly<Record<string, Edit>> = {
  left: (it) => moveTo(it, previous(it)),
  right: (it) => moveTo(it, next(it)),
  'ctrl-b': (it) => moveTo(it, previous(it)),
  'ctrl-f': (it) => moveTo(it, next(it)),
  'ctrl-left': (it) => moveTo(it, wordStart(it)),
  'ctrl-right': (it) => moveTo(it, wordEnd(it)),
  'meta-left': (it) => moveTo(it, wordStart(it)),
  'meta-right': (it) => moveTo(it, wordEnd(it)),
  'meta-b': (it) => moveTo(it, wordStart(it)),
  'meta-f': (it) => moveTo(it, wordEnd(it)),
  home: (it) => moveTo(it, lineStart(it)),
  end: (it) => moveTo(it, lineEnd(it)),
  'ctrl-a': (it) => moveTo(it, lineStart(it)),
  'ctrl-e': (it) => moveTo(it, lineEnd(it)),
  backspace: (it) => remove(it, previous(it), it.cursor),
  'ctrl-h': (it) => remove(it, previous(it), it.cursor),
  delete: (it) => remove(it, it.cursor, next(it)),
  'ctrl-d': (it) => remove(it, it.cursor, next(it)),
  'ctrl-w': (it) => kill(it, spaceStart(it), it.cursor),
  'meta-backspace': (it) => kill(it, wordStart(it), it.cursor),
  'ctrl-backspace': (it) => kill(it, wordStart(it), it.cursor),
  'meta-d': (it) => kill(it, it.cursor, wordEnd(it)),
  'ctrl-u': (it) => kill(it, lineStart(it), it.cursor),
  'ctrl-k': (it) => kill(it, it.cursor, lineEnd(it)),
  'ctrl-y': (it) => insertText(it, it.killed),
};

function moveTo(input: TextInput, cursor: number): TextInput {
  return { ...input, cursor };
}

function remove({ text, cursor, killed }: TextInput, from: number, to: number): TextInput {
  return { text: text.slice(0, from) + text.slice(to), cursor: Math.min(cursor, from), killed };
}

function kill(input: TextInput, from: number, to: number): TextInput {
  const killed = input.text.slice(from, to);
  return killed === '' ? input : { ...remove(input, from, to), killed };
}

/** How many UTF-16 units beside the cursor are examined to find the next user-perceived character. */
const CLUSTER = 32;

function previous({ text, cursor }: TextInput): number {
  const from = Math.max(0, cursor - CLUSTER);
  const last = [...graphemes(text.slice(from, cursor))].at(-1) ?? '';
  return cursor - last.length;
}

function next({ text, cursor }: TextInput): number {
  const [first = ''] = graphemes(text.slice(cursor, cursor + CLUSTER));
  return cursor + first.length;
}

function wordStart({ text, cursor }: TextInput): number {
  return /[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(0, cursor))?.index ?? 0;
}

function wordEnd({ text, cursor }: TextInput): number {
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function spaceStart({ text, cursor }: TextInput): number {
  return /\S*\s*$/.exec(text.slice(0, cursor))?.index ?? 0;
}

function lineStart({ text, cursor }: TextInput): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: TextInput): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}
