const ESC = '\u001b';

/** A line that is typed and not shown, as far as it has come. */
export type HiddenLine = {
  readonly text: string;
  readonly isPasting: boolean;
  /** The beginning of a sequence of which the rest is still to come. */
  readonly rest: string;
  readonly end?: 'entered' | 'interrupted' | 'ended';
};

export const NO_LINE: HiddenLine = { text: '', isPasting: false, rest: '' };

/** Has a terminal mark what is pasted, so that the newlines in it do not end the line. */
export const MARK_PASTES = `${ESC}[?2004h`;
export const DO_NOT_MARK_PASTES = `${ESC}[?2004l`;

/** The line after these keys; what comes after its end is dropped. Keys that move or complete do nothing. */
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

/** Sequences of terminals, newlines, and single characters. */
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
