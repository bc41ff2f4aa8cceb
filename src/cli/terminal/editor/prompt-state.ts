import {
  EMPTY_INPUT,
  editText,
  insertText,
  type Key,
  keyName,
  moveLine,
  replaceBefore,
  type TextInput,
  typedText,
} from './text-input.ts';

/** One completion; `text` replaces what was typed. */
export type Completion = {
  readonly text: string;
  readonly description?: string;
  /** Enter inserts this completion and sends the message; without it, Enter only inserts the completion. */
  readonly isWhole?: boolean;
};

/** Completions for the text from `from` to the cursor. */
export type Completions = { readonly from: number; readonly items: readonly Completion[] };

/** The text being typed, with its history, search and completions. */
export type PromptState = {
  readonly input: TextInput;
  /** Earlier messages, newest first, and which one is shown; -1 is the text being typed. */
  readonly history: { readonly entries: readonly string[]; readonly at: number; readonly draft: Draft };
  readonly search?: Search;
  readonly menu?: Completions & { readonly at: number };
  /** Long pasted texts, which the input shows as placeholders. */
  readonly pastes: readonly string[];
};

/** The text being typed, while an earlier message is shown. */
type Draft = { readonly text: string; readonly pastes: readonly string[] };

const NO_DRAFT: Draft = { text: '', pastes: [] };

/** A search through earlier messages; `at` counts the matches, newest first. */
export type Search = { readonly query: string; readonly at: number };

export const EMPTY_PROMPT: PromptState = {
  input: EMPTY_INPUT,
  history: { entries: [], at: -1, draft: NO_DRAFT },
  pastes: [],
};

/** What a key requests from the owner of the input. */
export type PromptOutcome =
  | 'submit'
  | 'interrupt'
  | 'end'
  | 'escape'
  | 'cycle-mode'
  | 'expand'
  | 'suspend'
  | 'redraw';

export type Pressed = { readonly state: PromptState; readonly outcome?: PromptOutcome };

/** Facts that decide what Enter does. */
export type PressContext = {
  /** A message may have several lines and has a history. */
  readonly isMessage: boolean;
  /** More text arrived together with this key: pasted lines in a terminal without bracketed paste. */
  readonly isBurst?: boolean;
  /** The key arrived alone, so that a line feed is Ctrl-J. */
  readonly isAlone?: boolean;
};

/** Applies a key to the prompt. */
export function press(state: PromptState, key: Key, context: PressContext): Pressed {
  const name = keyName(key);
  if (state.search) return pressInSearch(state, state.search, key, name);
  if (state.menu) {
    const pressed = pressInMenu(state, state.menu, name);
    if (pressed) return pressed;
  }
  switch (name) {
    case 'return':
    case 'enter':
      return pressEnter(state, name, context);
    case 'meta-return':
    case 'meta-enter':
      return context.isMessage ? edited(state, insertText(state.input, '\n')) : { state, outcome: 'submit' };
    case 'ctrl-c':
      return { state, outcome: 'interrupt' };
    case 'ctrl-d':
      if (state.input.text === '') return { state, outcome: 'end' };
      break;
    case 'escape':
      return { state, outcome: 'escape' };
    case 'shift-tab':
      return { state, outcome: 'cycle-mode' };
    case 'ctrl-o':
      return { state, outcome: 'expand' };
    case 'ctrl-z':
      return { state, outcome: 'suspend' };
    case 'ctrl-l':
      return { state, outcome: 'redraw' };
    case 'ctrl-r':
      return context.isMessage ? { state: { ...state, search: { query: '', at: 0 } } } : { state };
    case 'up':
    case 'ctrl-p':
      return context.isMessage ? olderMessage(state) : { state };
    case 'down':
    case 'ctrl-n':
      return context.isMessage ? newerMessage(state) : { state };
  }
  const input = editText(state.input, key);
  return input ? edited(state, wholePlaceholders(state, input)) : { state };
}

/** Pasted text is inserted without sending it. Long text is shown as a placeholder. */
export function pasteText(state: PromptState, pasted: string): PromptState {
  const text = pasted.replace(/\r\n?/g, '\n');
  if (state.search) return { ...state, search: { query: state.search.query + text.split('\n')[0], at: 0 } };
  const lines = text.replace(/\n$/, '').split('\n').length;
  if (lines <= MAX_SHOWN_LINES && text.length <= MAX_SHOWN_LENGTH) {
    return edited(state, insertText(state.input, text)).state;
  }
  const pastes = [...state.pastes, text];
  return { ...edited(state, insertText(state.input, placeholder(pastes.length, lines))).state, pastes };
}

const MAX_SHOWN_LINES = 5;
const MAX_SHOWN_LENGTH = 1000;

function placeholder(number: number, lines: number): string {
  return `[Pasted text #${number}, ${lines} ${lines === 1 ? 'line' : 'lines'}]`;
}

const PLACEHOLDER = /\[Pasted text #(\d+), \d+ lines?\]/g;

/** The text to send: placeholders are replaced by what was pasted. */
export function promptText({ input, pastes }: PromptState): string {
  return input.text.replace(PLACEHOLDER, (shown, number) => pastes[Number(number) - 1] ?? shown);
}

/** An edit of the input or a move of its cursor, extended so that it neither breaks nor enters a placeholder. */
function wholePlaceholders({ input: before, pastes }: PromptState, after: TextInput): TextInput {
  const places = [...before.text.matchAll(PLACEHOLDER)]
    .filter(([, number]) => pastes[Number(number) - 1] !== undefined)
    .map(({ 0: shown, index }) => ({ start: index, end: index + shown.length }));
  const { cursor } = after;
  if (after.text === before.text) {
    const entered = places.find(({ start, end }) => start < cursor && cursor < end);
    return entered ? { ...after, cursor: cursor < before.cursor ? entered.start : entered.end } : after;
  }
  const removedTo = cursor + before.text.length - after.text.length;
  const broken = places.filter(({ start, end }) => start < removedTo && cursor < end);
  if (removedTo <= cursor || broken.length === 0) return after;
  const from = Math.min(cursor, ...broken.map(({ start }) => start));
  const to = Math.max(removedTo, ...broken.map(({ end }) => end));
  const isKilled = after.killed !== before.killed;
  return {
    text: before.text.slice(0, from) + before.text.slice(to),
    cursor: from,
    killed: isKilled ? before.text.slice(from, to) : after.killed,
  };
}

/** The prompt with this text and an empty undo state; the history stays. */
export function withText(state: PromptState, text: string): PromptState {
  const { history, input } = state;
  return {
    input: { text, cursor: text.length, killed: input.killed },
    history: { ...history, at: -1, draft: NO_DRAFT },
    pastes: [],
  };
}

/** Adds a message to the history; an equal earlier one is removed. */
export function remember(entries: readonly string[], text: string, max: number): readonly string[] {
  if (text.trim() === '') return entries;
  return [text, ...entries.filter((it) => it !== text)].slice(0, max);
}

/** The earlier message that a search has found. */
export function foundMessage({ history }: PromptState, { query, at }: Search): string | undefined {
  return matchesOf(history.entries, query)[at];
}

function matchesOf(entries: readonly string[], query: string): readonly string[] {
  if (query === '') return [];
  const wanted = query.toLowerCase();
  return entries.filter((it) => it.toLowerCase().includes(wanted));
}

function edited(state: PromptState, input: TextInput): Pressed {
  const { menu: _menu, ...rest } = state;
  const { history } = state;
  const isEdited = input.text !== state.input.text;
  return { state: { ...rest, input, history: isEdited ? { ...history, at: -1, draft: NO_DRAFT } : history } };
}

function pressEnter(state: PromptState, name: 'return' | 'enter', context: PressContext): Pressed {
  const { input } = state;
  const isContinued = context.isMessage && input.text.endsWith('\\') && input.cursor === input.text.length;
  if (isContinued) return edited(state, replaceBefore(input, input.cursor - 1, '\n'));
  const isLineFeed = name === 'enter' && context.isAlone === true && context.isMessage;
  if (context.isBurst || isLineFeed) return edited(state, insertText(input, '\n'));
  return { state, outcome: 'submit' };
}

function olderMessage(state: PromptState): Pressed {
  const { at, draft } = state.history;
  const moved = moveLine(state.input, -1);
  if (moved && at < 0) return { state: { ...state, input: wholePlaceholders(state, moved) } };
  const typed = { text: state.input.text, pastes: state.pastes };
  return { state: recall(state, at + 1, at < 0 ? typed : draft) ?? state };
}

function newerMessage(state: PromptState): Pressed {
  const { at, draft } = state.history;
  const moved = moveLine(state.input, 1);
  if (moved && at < 0) return { state: { ...state, input: wholePlaceholders(state, moved) } };
  if (at < 0) return { state };
  if (at === 0) return { state: { ...withText(state, draft.text), pastes: draft.pastes } };
  return { state: recall(state, at - 1, draft) ?? state };
}

function recall(state: PromptState, at: number, draft: Draft): PromptState | undefined {
  const text = state.history.entries[at];
  if (text === undefined) return undefined;
  return { ...withText(state, text), history: { ...state.history, at, draft } };
}

function pressInSearch(state: PromptState, search: Search, key: Key, name: string): Pressed {
  const { search: _search, ...without } = state;
  const found = foundMessage(state, search);
  const accepted = found === undefined ? without : withText(without, found);
  switch (name) {
    case 'ctrl-c':
    case 'ctrl-g':
      return { state: without };
    case 'return':
    case 'enter':
      return found === undefined ? { state: without } : { state: accepted, outcome: 'submit' };
    case 'ctrl-r': {
      const at = foundMessage(state, { ...search, at: search.at + 1 }) === undefined ? 0 : search.at + 1;
      return { state: { ...state, search: { ...search, at } } };
    }
    case 'backspace':
      return { state: { ...state, search: { query: search.query.slice(0, -1), at: 0 } } };
  }
  const typed = typedText(key);
  if (typed !== undefined) return { state: { ...state, search: { query: search.query + typed, at: 0 } } };
  // Other keys put the found message into the input.
  return { state: accepted };
}

function pressInMenu(
  state: PromptState,
  menu: Completions & { readonly at: number },
  name: string,
): Pressed | undefined {
  const { menu: _menu, ...closed } = state;
  const move = (by: number) => ({
    state: { ...state, menu: { ...menu, at: (menu.at + by + menu.items.length) % menu.items.length } },
  });
  switch (name) {
    case 'up':
    case 'ctrl-p':
      return move(-1);
    case 'down':
    case 'ctrl-n':
      return move(1);
    case 'escape':
      return { state: closed };
    case 'tab':
      return { state: complete(closed, menu) };
    case 'return': {
      const typed = state.input.text.slice(menu.from, state.input.cursor);
      // A completely typed name is sent as it is.
      if (menu.at === 0 && menu.items.some(({ text }) => text.trimEnd() === typed)) return undefined;
      const chosen = complete(closed, menu);
      return menu.items[menu.at]?.isWhole ? { state: chosen, outcome: 'submit' } : { state: chosen };
    }
    default:
      return undefined;
  }
}

function complete(
  state: PromptState,
  { from, items, at }: Completions & { readonly at: number },
): PromptState {
  const item = items[at];
  return item ? { ...state, input: replaceBefore(state.input, from, item.text) } : state;
}
