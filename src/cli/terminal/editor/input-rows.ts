import type { Choice, InputView } from '../line-editor.ts';
import { cutLine, type RenderOptions, renderRows, type Span } from '../render.ts';
import type { Frame } from '../screen.ts';
import {
  displayWidth,
  graphemes,
  graphemeWidth,
  sanitize,
  sanitizeLine,
  truncateToWidth,
} from '../terminal-text.ts';
import { type Completion, foundMessage, type PromptState } from './prompt-state.ts';

/** The space for the input area. */
export type InputLook = RenderOptions & {
  /** The largest number of rows of the text, and of a list below it. */
  readonly maxRows: number;
  /** Shown dimmed while the input is empty. */
  readonly placeholder?: string;
};

/** The rows of an input: the prompt with the text, then completions, choices or the search. */
export function inputFrame(view: InputView, prompt: string, look: InputLook): Frame {
  const { state, choices, chosen } = view;
  if (choices.length > 0) return choiceFrame(prompt, choices, chosen, look);
  if (state.search) return searchFrame(state, state.search, look);
  const text = textFrame(prompt, state, look);
  const menu = state.menu ? menuRows(state.menu.items, state.menu.at, look) : [];
  return { ...text, rows: [...text.rows, ...menu] };
}

const MAX_MENU_ROWS = 6;

/** The text wrapped at the width of the terminal; a long text is scrolled to its cursor. */
function textFrame(prompt: string, { input }: PromptState, look: InputLook): Frame {
  const { text, cursor } = input;
  // A prompt that fills the row would leave no room for the text.
  const { rows: above, last } = splitPrompt(prompt, look.columns);
  const indent = Math.min(displayWidth(last), 2);
  const width = look.columns - 1;
  const rows: string[] = [last];
  let at: { row: number; column: number } | undefined;
  let used = displayWidth(last);
  let index = 0;
  const wrap = () => {
    rows.push(' '.repeat(indent));
    used = indent;
  };
  for (const part of graphemes(text)) {
    if (index >= cursor && !at) at = { row: rows.length - 1, column: used };
    index += part.length;
    if (part === '\n') {
      wrap();
      continue;
    }
    const shown = part === '\t' ? '    ' : sanitize(part);
    const size = shown === part ? graphemeWidth(part) : displayWidth(shown);
    if (used + size > width) wrap();
    rows[rows.length - 1] += shown;
    used += size;
  }
  const end = at ?? { row: rows.length - 1, column: used };
  if (text === '' && look.placeholder) {
    const room = { ...look, columns: look.columns - used };
    rows[0] += renderRows(cutLine([look.placeholder, 'dim']), room)[0] ?? '';
  }
  const from = Math.max(0, Math.min(end.row - look.maxRows + 1, rows.length - look.maxRows));
  const shown = rows.slice(from, from + look.maxRows);
  return {
    rows: [...above, ...shown],
    cursor: { row: above.length + end.row - from, column: Math.min(end.column, width) },
  };
}

/** The rows of a long prompt, the last of which the text follows. */
function splitPrompt(prompt: string, columns: number): { rows: string[]; last: string } {
  const room = Math.max(8, Math.floor(columns * 0.7));
  if (displayWidth(prompt) <= room) return { rows: [], last: prompt };
  const spaces = / *$/.exec(prompt)?.[0] ?? '';
  const piece = { kind: 'line', spans: [prompt.trimEnd()], overflow: 'wrap' } as const;
  const rows = renderRows(piece, { columns: room, hasColors: false, isBounded: true });
  return { rows: rows.slice(0, -1), last: `${rows.at(-1) ?? ''}${spaces}` };
}

function searchFrame(state: PromptState, search: NonNullable<PromptState['search']>, look: InputLook): Frame {
  const found = foundMessage(state, search);
  const label = `search earlier messages: ${search.query}`;
  const none = search.query === '' ? '' : 'no match';
  return {
    rows: [
      ...renderRows(cutLine(label), look),
      ...renderRows(cutLine(['  ', 'dim'], found === undefined ? [none, 'dim'] : found), look),
      ...renderRows(cutLine(['  Ctrl-R older · Enter sends · Tab edits · Ctrl-C cancels', 'dim']), look),
    ],
    cursor: { row: 0, column: Math.min(displayWidth(label), look.columns - 1) },
  };
}

function menuRows(items: readonly Completion[], at: number, look: InputLook): string[] {
  const max = Math.min(MAX_MENU_ROWS, look.maxRows);
  const { from, shown } = windowOf(items, at, max);
  const widest = Math.min(
    Math.floor(look.columns / 2),
    Math.max(...shown.map(({ text }) => displayWidth(text.trimEnd()))),
  );
  const rows = shown.map(({ text, description = '' }, index) => {
    const name = text.trimEnd();
    const gap = ' '.repeat(Math.max(0, widest - displayWidth(name)) + 2);
    const isAt = from + index === at;
    const spans: Span[] = [isAt ? '› ' : '  ', [name, isAt ? 'accent' : 'plain'], gap, [description, 'dim']];
    return renderRows(cutLine(...spans), look)[0] ?? '';
  });
  const more = items.length - shown.length;
  return more > 0 ? [...rows, renderRows(cutLine([`  ${more} more`, 'dim']), look)[0] ?? ''] : rows;
}

function choiceFrame(prompt: string, choices: readonly Choice[], chosen: number, look: InputLook): Frame {
  const { from, shown } = windowOf(choices, chosen, Math.max(3, look.maxRows));
  // Details are aligned, and at least half of the row is left for them.
  const widest = Math.max(...choices.map(({ label }) => displayWidth(label)));
  const longest = Math.max(...choices.map(({ detail = '' }) => displayWidth(detail)));
  const space = look.columns - 5;
  const room = Math.min(widest, Math.max(space - longest, Math.floor(space / 2)));
  const rows = shown.map(({ label, detail = '' }, index) => {
    const isAt = from + index === chosen;
    const name = truncateToWidth(sanitizeLine(label), room);
    const gap = ' '.repeat(Math.max(0, room - displayWidth(name)) + 2);
    const spans: Span[] = [isAt ? '› ' : '  ', [name, isAt ? 'accent' : 'plain'], gap, [detail, 'dim']];
    return renderRows(cutLine(...spans), look)[0] ?? '';
  });
  const position = `  ${chosen + 1} of ${choices.length} · ↑ ↓ to move, Enter to choose, Esc to cancel`;
  return {
    rows: [
      ...renderRows(cutLine([prompt, 'strong']), look),
      ...rows,
      ...renderRows(cutLine([position, 'dim']), look),
    ],
  };
}

/** The part of a list around an entry. */
function windowOf<T>(items: readonly T[], at: number, max: number): { from: number; shown: readonly T[] } {
  const from = Math.max(0, Math.min(at - Math.floor(max / 2), items.length - max));
  return { from, shown: items.slice(from, from + max) };
}
