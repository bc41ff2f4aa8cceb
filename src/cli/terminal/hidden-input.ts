import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import { MAX_SECRET_BYTES } from '../../config/secrets/secret-store.ts';
import { CommandFailed } from '../output/failure.ts';

/** Reads a value from the terminal without echo, or from a pipe; undefined if it was cancelled. */
export async function readValue(
  name: string,
  input: NodeJS.ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  return input.isTTY ? readTyped(name, input, prompt) : readPiped(name, input);
}

async function readTyped(
  name: string,
  input: ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const decoder = new StringDecoder('utf8');
  let line = NO_LINE;
  input.on('data', (bytes: Buffer) => {
    line = typeHidden(line, decoder.write(bytes));
    if (line.end !== undefined) resolve(line.end === 'entered' ? line.text : undefined);
  });
  for (const event of ['end', 'close', 'error']) input.once(event, () => resolve(undefined));
  // Echo is turned off before the prompt is shown.
  input.setRawMode(true);
  prompt.write(`Value of ${name} (input is hidden): ${MARK_PASTES}`);
  const value = await promise;
  input.setRawMode(false);
  prompt.write(`${DO_NOT_MARK_PASTES}\n`);
  return value;
}

/** The whole input without its trailing newline. */
async function readPiped(name: string, input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of input) {
    chunks.push(bytes as Buffer);
    length += (bytes as Buffer).length;
    // The limit is exceeded; the rest of the input may be endless.
    if (length > 2 * MAX_SECRET_BYTES) break;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    const fault = length > MAX_SECRET_BYTES ? 'it is too long' : 'stdin is not valid UTF-8';
    throw new CommandFailed(`cannot store the value of ${name}: ${fault}`, 'bad-config');
  }
}
const ESC = '\u001b';

/** The state of a hidden input line. */
export type HiddenLine = {
  readonly text: string;
  readonly isPasting: boolean;
  /** The start of an escape sequence that is not complete yet. */
  readonly rest: string;
  readonly end?: 'entered' | 'interrupted' | 'ended';
};

export const NO_LINE: HiddenLine = { text: '', isPasting: false, rest: '' };

/** Bracketed paste mode: newlines in pasted text do not end the line. */
const MARK_PASTES = `${ESC}[?2004h`;
const DO_NOT_MARK_PASTES = `${ESC}[?2004l`;

/** The line after these keys. Input after the end of the line is dropped; cursor keys and Tab have no effect. */
export function typeHidden(line: HiddenLine, keys: string): HiddenLine {
  let state: HiddenLine = { ...line, rest: '' };
  const given = line.rest + keys;
  for (const { 0: piece, index } of given.matchAll(PIECES)) {
    if (state.end !== undefined) return state;
    if (index + piece.length === given.length && isUnfinished(piece)) return { ...state, rest: piece };
    state = next(state, piece);
  }
  return state;
}

/** Escape sequences, newlines and single characters. */
const PIECES = new RegExp(`${ESC}(?:\\[[\\d;?]*[@-~]?|O.?|)|\\r\\n?|[\\s\\S]`, 'gu');
const WHOLE = new RegExp(`^${ESC}(\\[[\\d;?]*[@-~]|O.)$`, 'u');
const PASTE_BEGINS = `${ESC}[200~`;
const PASTE_ENDS = `${ESC}[201~`;

function isUnfinished(piece: string): boolean {
  return piece.startsWith(ESC) && !WHOLE.test(piece);
}

function next(state: HiddenLine, piece: string): HiddenLine {
  if (piece === PASTE_BEGINS || piece === PASTE_ENDS) return { ...state, isPasting: piece === PASTE_BEGINS };
  if (piece.startsWith(ESC)) return state;
  const isNewline = /^[\r\n]/.test(piece);
  if (state.isPasting) return { ...state, text: state.text + (isNewline ? '\n' : piece) };
  if (isNewline) return { ...state, end: 'entered' };
  switch (piece) {
    case '\u0003':
      return { ...state, end: 'interrupted' };
    case '\u0004':
      return { ...state, end: state.text === '' ? 'ended' : 'entered' };
    case '\u007f':
    case '\b':
      return { ...state, text: [...state.text].slice(0, -1).join('') };
    case '\u0015':
      return { ...state, text: '' };
    default:
      return piece < ' ' && piece !== '\t' ? state : { ...state, text: state.text + piece };
  }
}
