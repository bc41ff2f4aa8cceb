import { createInterface, emitKeypressEvents, type Interface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import {
  type Completions,
  EMPTY_PROMPT,
  type PromptOutcome,
  type PromptState,
  pasteText,
  press,
  promptText,
  remember,
  withText,
} from './editor/prompt-state.ts';
import { type Key, keyName, typedText } from './editor/text-input.ts';
import type { ReadEnd } from './read-line.ts';
import type { Terminal } from './terminal.ts';
import { sanitize } from './terminal-text.ts';

export { type ReadEnd, readLine } from './read-line.ts';

/** A message may have several lines and is added to the history. An answer is one line, and text typed before the question is not used for it. */
export type ReadKind = 'message' | 'answer';

/** One entry of a list that the user chooses from. */
export type Choice = { readonly label: string; readonly detail?: string };

type Read = {
  readonly prompt: string;
  readonly kind: ReadKind;
  readonly choices: readonly Choice[];
  readonly settle: (end: ReadEnd) => void;
  state: PromptState;
  /** The highlighted choice. */
  chosen: number;
};

/** What a screen shows of the editor. `prompt` is undefined while no read is pending: the text is typed ahead. */
export type InputView = {
  readonly prompt: string | undefined;
  readonly kind: ReadKind;
  readonly state: PromptState;
  readonly queued: readonly string[];
  readonly choices: readonly Choice[];
  readonly chosen: number;
};

/** Events of the editor. */
export type EditorEvents = {
  /** Ctrl-C or the end of the input while no read is pending, or Esc while no question is. */
  stray(key: 'interrupted' | 'escaped' | 'ended'): void;
  /** The text, the queue or a prompt changed. */
  changed?(): void;
  /** A read is shown in linear output. */
  prompted?(prompt: string): void;
  /** A text was sent; `mark` is `^C` if it was dropped instead. */
  echoed?(prompt: string, text: string, mark?: string): void;
  /** A message was typed while no read was pending; the next read of a message returns it. */
  queued?(text: string): void;
  /** A key that does not edit the text. */
  pressed?(key: 'cycle-mode' | 'expand' | 'redraw'): void;
  /** Completions for the text before the cursor. */
  complete?(before: string): Completions | undefined | Promise<Completions | undefined>;
  /** A message for the history. */
  remembered?(text: string): void;
};

/** The part of a terminal that an editor needs. */
type EditorTerminal = Pick<Terminal, 'input' | 'output' | 'isInteractive'> & { readonly isPlain?: boolean };

const HISTORY_SIZE = 1000;
/** A key that starts an escape sequence is Esc itself if nothing follows for this long. */
const ESCAPE_MS = 50;

/**
 * Reads messages and answers from a terminal, or lines from a pipe or a plain terminal. The editor changes the state of
 * the input; a screen shows that state. Reads may be nested: the newest one has the keyboard, and the one below gets its
 * draft back. Text entered while no read is pending is queued for the next message.
 */
export class LineEditor implements Disposable {
  readonly #terminal: EditorTerminal;
  readonly #events: EditorEvents;
  readonly #lines: Interface | undefined;
  readonly #reads: Read[] = [];
  /** Messages that were entered while no read was pending. */
  readonly #ahead: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #idle: PromptState = EMPTY_PROMPT;
  #history: readonly string[] = [];
  #keys: Key[] = [];
  #paste: string | undefined;
  #hasEnded = false;
  #isClosed = false;

  constructor(terminal: EditorTerminal, events: EditorEvents) {
    this.#terminal = terminal;
    this.#events = events;
    if (this.#isLive) {
      // The type requires an interface of readline; only the time-out is used.
      emitKeypressEvents(terminal.input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
      terminal.input.on('keypress', this.#onKey);
      terminal.input.on('end', this.#onEnd);
      this.#setRaw(true);
      terminal.input.resume();
      terminal.output.write(PASTE_ON);
    } else {
      this.#lines = createInterface({ input: terminal.input, terminal: false });
      this.#lines.on('line', (text) => this.#submit(text));
      this.#lines.on('close', this.#onEnd);
      // readline forwards errors of the input stream, which the owner of the stream handles.
      this.#lines.on('error', () => {});
    }
  }

  /** What a screen shows. */
  get view(): InputView {
    const read = this.#reads.at(-1);
    return {
      prompt: read?.prompt,
      kind: read?.kind ?? 'message',
      state: this.#state,
      queued: this.#ahead,
      choices: read?.choices ?? [],
      chosen: read?.chosen ?? 0,
    };
  }

  /** Earlier messages, newest first. */
  set history(entries: readonly string[]) {
    this.#history = entries.slice(0, HISTORY_SIZE);
    this.#state = this.#withHistory(this.#state);
  }

  /** Removes and returns the queued messages. */
  dropQueued(): string[] {
    const dropped = this.#ahead.splice(0);
    this.#events.changed?.();
    return dropped;
  }

  /** Puts queued messages back into the input, above what is being typed. */
  recallQueued(): number {
    const queued = this.#ahead.splice(0);
    if (queued.length === 0) return 0;
    const typed = promptText(this.#idle);
    this.#idle = withText(this.#idle, [...queued, ...(typed === '' ? [] : [typed])].join('\n'));
    this.#events.changed?.();
    return queued.length;
  }

  /** Resolves immediately, or when the message being typed is sent or cleared; calls `onWait` before waiting. */
  async untilNotTyping(signal: AbortSignal, onWait: () => void): Promise<void> {
    this.#flush();
    if (!this.#isTypingMessage() || signal.aborted) return;
    onWait();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  read(prompt: string, kind: ReadKind, signal?: AbortSignal): Promise<ReadEnd> {
    this.#flush();
    const next = kind === 'message' ? this.#ahead.shift() : undefined;
    if (next !== undefined) {
      if (this.#terminal.isInteractive) this.#events.echoed?.(sanitize(prompt), next);
      return Promise.resolve({ kind: 'text', text: next });
    }
    return this.#ask(prompt, kind, [], signal);
  }

  /** Lets the user choose from a list; the text is the number of the entry, from 0. */
  choose(prompt: string, choices: readonly Choice[], signal?: AbortSignal): Promise<ReadEnd> {
    this.#flush();
    return this.#ask(prompt, 'answer', choices, signal);
  }

  /** Handles one Ctrl-C: clears the draft of a message, else ends the newest read, else reports it. */
  interrupt(): void {
    const read = this.#reads.at(-1);
    const draft = this.#state;
    const hadDraft = draft.input.text !== '';
    if (!read) {
      if (hadDraft) this.#idle = withText(draft, '');
      else this.#events.stray('interrupted');
    } else {
      const echo = { text: draft.input.text, mark: '^C' };
      if (read.kind === 'message' && hadDraft) {
        read.state = withText(draft, '');
        this.#events.echoed?.(read.prompt, echo.text, echo.mark);
      } else this.#settle(read, { kind: 'interrupted' }, echo);
    }
    this.#wakeWaiting();
    this.#events.changed?.();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#lines?.close();
    if (!this.#isLive) return;
    const { input, output } = this.#terminal;
    input.off('keypress', this.#onKey);
    input.off('end', this.#onEnd);
    output.write(PASTE_OFF);
    this.#setRaw(false);
    input.pause();
  }

  get #isLive(): boolean {
    return this.#terminal.isInteractive && !this.#terminal.isPlain;
  }

  get #state(): PromptState {
    return this.#reads.at(-1)?.state ?? this.#idle;
  }

  set #state(state: PromptState) {
    const read = this.#reads.at(-1);
    if (read) read.state = state;
    else this.#idle = state;
  }

  #ask(
    prompt: string,
    kind: ReadKind,
    choices: readonly Choice[],
    signal: AbortSignal | undefined,
  ): Promise<ReadEnd> {
    if (signal?.aborted) return Promise.resolve({ kind: 'withdrawn' });
    if (this.#hasEnded) return Promise.resolve({ kind: 'ended' });
    const { promise, resolve } = Promise.withResolvers<ReadEnd>();
    // A draft that was typed ahead becomes the message; a question leaves it alone.
    const isDraft = kind === 'message' && this.#reads.length === 0;
    const state = isDraft ? this.#idle : EMPTY_PROMPT;
    if (isDraft) this.#idle = EMPTY_PROMPT;
    const read = { prompt: sanitize(prompt), kind, choices, settle: resolve, state, chosen: 0 };
    const onAbort = () => {
      this.#flush();
      this.#settle(read, { kind: 'withdrawn' });
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#reads.push(read);
    this.#state = this.#withHistory(read.state);
    this.#events.prompted?.(read.prompt);
    this.#events.changed?.();
    return promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  #withHistory(state: PromptState): PromptState {
    const isMessage = this.#reads.at(-1)?.kind !== 'answer';
    return { ...state, history: { ...state.history, entries: isMessage ? this.#history : [] } };
  }

  /** Keys that arrive together are handled together, so that pasted lines can be recognized. */
  readonly #onKey = (text: string | undefined, key: Key | undefined) => {
    this.#keys.push({ ...key, ...(key?.sequence === undefined && text !== undefined && { sequence: text }) });
    if (this.#keys.length === 1) setImmediate(() => this.#flush());
  };

  readonly #onEnd = () => {
    if (this.#hasEnded) return;
    this.#flush();
    this.#hasEnded = true;
    for (const wake of this.#waiting.splice(0)) wake();
    if (this.#reads.length === 0) this.#events.stray('ended');
    for (const { settle } of this.#reads.splice(0)) settle({ kind: 'ended' });
  };

  #flush(): void {
    const keys = this.#keys;
    this.#keys = [];
    const before = this.#state.input.text;
    keys.forEach((key, at) => {
      const following = keys.slice(at + 1, at + 2).some(({ name, ...it }) => isText({ name, ...it }));
      this.#press(key, { isBurst: following, isAlone: keys.length === 1 });
    });
    if (keys.length === 0 || this.#isClosed) return;
    this.#wakeWaiting();
    if (this.#state.input.text !== before) this.#complete();
    this.#events.changed?.();
  }

  #press(key: Key, { isBurst, isAlone }: { isBurst: boolean; isAlone: boolean }): void {
    if (key.name === 'paste-start') {
      this.#paste = '';
      return;
    }
    if (key.name === 'paste-end') {
      this.#state = pasteText(this.#state, this.#paste ?? '');
      this.#paste = undefined;
      return;
    }
    if (this.#paste !== undefined) {
      this.#paste += key.sequence ?? '';
      return;
    }
    const read = this.#reads.at(-1);
    if (read && read.choices.length > 0) {
      this.#pressInChoice(read, key);
      return;
    }
    const isMessage = read?.kind !== 'answer';
    const isRecall = !read && keyName(key) === 'up' && this.#idle.input.text === '' && this.#ahead.length > 0;
    if (isRecall) {
      this.#idle = withText(this.#idle, this.#ahead.pop() ?? '');
      return;
    }
    const { state, outcome } = press(this.#state, key, { isMessage, isBurst, isAlone });
    this.#state = state;
    if (outcome) this.#act(outcome);
  }

  #act(outcome: PromptOutcome): void {
    const read = this.#reads.at(-1);
    switch (outcome) {
      case 'submit':
        this.#submit(promptText(this.#state));
        return;
      case 'interrupt':
        this.interrupt();
        return;
      case 'end':
        this.#onEnd();
        return;
      case 'escape':
        // Esc ends a question as Ctrl-C does, and interrupts a turn; the draft is kept.
        if (read?.kind === 'answer') this.interrupt();
        else this.#events.stray('escaped');
        return;
      case 'suspend':
        this.#suspend();
        return;
      default:
        this.#events.pressed?.(outcome);
    }
  }

  #pressInChoice(read: Read, key: Key): void {
    const { length } = read.choices;
    switch (keyName(key)) {
      case 'up':
      case 'ctrl-p':
        read.chosen = (read.chosen + length - 1) % length;
        return;
      case 'down':
      case 'ctrl-n':
        read.chosen = (read.chosen + 1) % length;
        return;
      case 'return':
        this.#settle(read, { kind: 'text', text: String(read.chosen) });
        return;
      case 'escape':
      case 'ctrl-c':
      case 'q':
        this.#settle(read, { kind: 'interrupted' });
        return;
      case 'ctrl-d':
        this.#onEnd();
    }
  }

  #submit(text: string): void {
    const read = this.#reads.at(-1);
    if (read && read.choices.length > 0) {
      // Linear output shows the numbers from 1.
      const number = Number(text.trim());
      const isKnown = Number.isInteger(number) && number >= 1 && number <= read.choices.length;
      this.#settle(read, isKnown ? { kind: 'text', text: String(number - 1) } : { kind: 'interrupted' });
      return;
    }
    if (read?.kind !== 'answer') this.#remember(text);
    if (read) this.#settle(read, { kind: 'text', text }, this.#isLive ? { text } : undefined);
    else this.#queue(text);
    this.#wakeWaiting();
  }

  #queue(text: string): void {
    this.#idle = withText(this.#idle, '');
    if (this.#terminal.isInteractive && text.trim() === '') return;
    this.#ahead.push(text);
    if (this.#terminal.isInteractive) this.#events.queued?.(text);
  }

  #remember(text: string): void {
    if (!this.#terminal.isInteractive || text.trim() === '') return;
    this.#history = remember(this.#history, text, HISTORY_SIZE);
    this.#idle = this.#withHistory(this.#idle);
    this.#events.remembered?.(text);
  }

  /** Ends a read. `echo` is shown where the read was. */
  #settle(read: Read, end: ReadEnd, echo?: { readonly text: string; readonly mark?: string }): void {
    const index = this.#reads.indexOf(read);
    if (index < 0) return;
    this.#reads.splice(index, 1);
    this.#state = this.#withHistory(this.#state);
    if (echo) this.#events.echoed?.(read.prompt, echo.text, echo.mark);
    read.settle(end);
    const below = this.#reads.at(-1);
    if (below) this.#events.prompted?.(below.prompt);
    this.#events.changed?.();
  }

  /** Whether a message is partly typed, at a prompt or ahead. */
  #isTypingMessage(): boolean {
    return this.#isLive && this.#reads.at(-1)?.kind !== 'answer' && this.#state.input.text !== '';
  }

  #wakeWaiting(): void {
    if (this.#isTypingMessage()) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Shows completions for what is typed now, unless the text has changed when they are known. */
  #complete(): void {
    const { complete } = this.#events;
    const { input, search, history } = this.#state;
    if (!complete || this.#reads.at(-1)?.kind === 'answer') return;
    const show = (found: Completions | undefined) => {
      const state = this.#state;
      if (state.input.text !== input.text || state.input.cursor !== input.cursor) return;
      const { menu, ...without } = state;
      const isSame = menu && JSON.stringify(menu.items) === JSON.stringify(found?.items);
      const at = isSame ? menu.at : 0;
      this.#state = found && found.items.length > 0 ? { ...without, menu: { ...found, at } } : without;
      this.#events.changed?.();
    };
    const isTyped = !search && history.at < 0 && input.text !== '';
    const found = isTyped ? complete(input.text.slice(0, input.cursor)) : undefined;
    if (found instanceof Promise) found.then(show, () => {});
    else show(found);
  }

  /** Ctrl-Z: the terminal is restored while the process is stopped. */
  #suspend(): void {
    if (process.platform === 'win32') return;
    const { output } = this.#terminal;
    process.once('SIGCONT', () => {
      if (this.#isClosed) return;
      this.#setRaw(true);
      output.write(PASTE_ON);
      this.#events.pressed?.('redraw');
    });
    output.write(PASTE_OFF);
    this.#setRaw(false);
    process.kill(process.pid, 'SIGTSTP');
  }

  #setRaw(isRaw: boolean): void {
    const input = this.#terminal.input as Partial<ReadStream>;
    if (input.isTTY) input.setRawMode?.(isRaw);
  }
}

/** Whether a key is a part of a text: a printable character or a line end. */
function isText(key: Key): boolean {
  return typedText(key) !== undefined || key.name === 'return' || key.name === 'enter';
}

/** Bracketed paste mode: the terminal marks the start and end of pasted text. */
export const PASTE_ON = '\u001b[?2004h';
export const PASTE_OFF = '\u001b[?2004l';
