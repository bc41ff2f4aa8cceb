import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import { sanitize } from './sanitize.ts';
import type { Terminal } from './terminal.ts';

/** How a read ended: a text, Ctrl-C, the end of the input, or its own signal. */
export type ReadEnd =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'withdrawn' };

/** A message may have several lines and is added to the history. An answer is one line, and text typed before the question is not used for it. */
export type ReadKind = 'message' | 'answer';

type Read = {
  readonly prompt: string;
  readonly kind: ReadKind;
  readonly settle: (end: ReadEnd) => void;
  draft: Draft;
};

/** Typed text that is not sent yet: the line being edited, and earlier lines of the same message. */
type Draft = { readonly line: string; readonly lines: string[] };

/** Writable properties of readline that its types declare read-only. */
type Editable = { line: string; cursor: number; prevRows: number };

/** Events of the editor. */
export type EditorEvents = {
  /** Ctrl-C, or the end of the input, while no read is pending. */
  stray(key: 'interrupted' | 'ended'): void;
  /** Text is typed while no read is pending; a line for it is shown next. Without this handler such text is not shown. */
  typing?(): void;
  /** A message was typed while no read was pending; the next read of a message returns it. */
  queued?(text: string): void;
  /** The line for typed text was removed. */
  idle?(): void;
};

/** The part of a terminal that an editor needs. */
type EditorTerminal = Pick<Terminal, 'input' | 'output' | 'isInteractive' | 'columns'>;

const CONTINUED = '… ';
/** The prompt for text that is typed during a turn. */
const QUEUE_PROMPT = 'queue › ';
const HISTORY_SIZE = 1000;

/**
 * A line editor on readline: editing, history, pasted lines kept together. Reads may be nested: the newest one has
 * the keyboard, the one below gets its draft back. Text typed while no read is pending is shown on its own line and
 * queued for the next message.
 */
export class LineEditor implements Disposable {
  readonly #terminal: EditorTerminal;
  readonly #readline: Interface & Editable;
  readonly #reads: Read[] = [];
  /** Messages that were entered while no read was pending. */
  readonly #ahead: string[] = [];
  readonly #events: EditorEvents;
  /** Earlier messages, newest first, each whole. */
  readonly #messages: string[] = [];
  readonly #waiting: (() => void)[] = [];
  #lines: string[] = [];
  #idleDraft: Draft = { line: '', lines: [] };
  #isPasting = false;
  #isSettling = false;
  #hasEnded = false;
  #isTypingAhead = false;

  constructor(terminal: EditorTerminal, events: EditorEvents) {
    this.#terminal = terminal;
    this.#events = events;
    this.#readline = createInterface({
      input: terminal.input,
      output: this.#echo(),
      terminal: terminal.isInteractive,
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
    }) as Interface & Editable;
    // Newer versions of readline separate the lines of a recalled message by carriage returns.
    this.#readline.on('line', (text) => this.#takeLine(text.replace(/\r\n?/g, '\n')));
    this.#readline.on('SIGINT', () => this.interrupt());
    this.#readline.on('close', () => this.#end());
    // readline forwards errors of the input stream, which the owner of the stream handles.
    this.#readline.on('error', () => {});
    // readline would remember single lines and answers; the history holds whole messages.
    this.#readline.on('history', (history: string[]) => {
      history.splice(0, history.length, ...this.#messages);
    });
    terminal.input.on('keypress', this.#onKey);
    if (terminal.isInteractive) terminal.output.write(PASTE_ON);
  }

  /** Whether an input line is on the screen: a prompt, or text that is typed ahead. */
  get isShowing(): boolean {
    return this.#reads.length > 0 || this.#isTypingAhead;
  }

  /** Removes and returns the queued messages. */
  dropQueued(): string[] {
    return this.#ahead.splice(0);
  }

  /** Resolves immediately, or when the message being typed is sent or cleared; calls `onWait` before waiting. */
  async untilNotTyping(signal: AbortSignal, onWait: () => void): Promise<void> {
    if (!this.#isTypingMessage() || signal.aborted) return;
    onWait();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  read(prompt: string, kind: ReadKind, signal?: AbortSignal): Promise<ReadEnd> {
    const next = kind === 'message' ? this.#ahead.shift() : undefined;
    if (next !== undefined) {
      this.#echoQueued(prompt, next);
      return Promise.resolve({ kind: 'text', text: next });
    }
    if (signal?.aborted) return Promise.resolve({ kind: 'withdrawn' });
    if (this.#hasEnded) return Promise.resolve({ kind: 'ended' });
    const { promise, resolve } = Promise.withResolvers<ReadEnd>();
    const read: Read = { prompt: sanitize(prompt), kind, settle: resolve, draft: { line: '', lines: [] } };
    const onAbort = () => this.#withdraw(read);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#open(read);
    return promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Prints above what is being typed. */
  above(print: () => void): void {
    if (!this.isShowing || !this.#terminal.isInteractive) {
      print();
      return;
    }
    this.#erase();
    print();
    this.#show();
  }

  /** Handles one Ctrl-C: clears the draft, else ends the newest read, else reports it. */
  interrupt(): void {
    const read = this.#reads.at(-1);
    const hadDraft = this.#readline.line !== '' || this.#lines.length > 0;
    if (this.#isTypingAhead) {
      this.#clearTypedAhead();
      return;
    }
    this.#takeDraft();
    if (!read) {
      this.#events.stray('interrupted');
      return;
    }
    if (this.#terminal.isInteractive) this.#terminal.output.write('^C\n');
    if (read.kind === 'message' && hadDraft) this.#show();
    else this.#settle(read, { kind: 'interrupted' });
    this.#wakeWaiting();
  }

  [Symbol.dispose](): void {
    this.#terminal.input.off('keypress', this.#onKey);
    if (this.#terminal.isInteractive) this.#terminal.output.write(PASTE_OFF);
    this.#readline.close();
  }

  readonly #onKey = (_: unknown, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') this.#isPasting = true;
    if (key?.name === 'paste-end') this.#isPasting = false;
    if (key?.name === 'escape') this.#escape();
    this.#showTypedAhead();
    this.#wakeWaiting();
  };

  /** Esc ends a question as Ctrl-C does, and clears what is typed ahead; in a message it has no effect. */
  #escape(): void {
    if (this.#isTypingAhead || this.#reads.at(-1)?.kind === 'answer') this.interrupt();
  }

  #hasDraft(): boolean {
    return this.#readline.line !== '' || this.#lines.some((it) => it !== '');
  }

  /** Whether a message is partly typed, at a prompt or ahead. */
  #isTypingMessage(): boolean {
    return this.#terminal.isInteractive && this.#reads.at(-1)?.kind !== 'answer' && this.#hasDraft();
  }

  #wakeWaiting(): void {
    if (this.#isTypingMessage()) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Shows or hides the line for text that is typed while no read is pending. */
  #showTypedAhead(): void {
    const { typing } = this.#events;
    if (!typing || !this.#terminal.isInteractive || this.#reads.length > 0 || this.#hasEnded) return;
    const hasDraft = this.#hasDraft();
    if (hasDraft === this.#isTypingAhead) return;
    if (!hasDraft) {
      this.#clearTypedAhead();
      return;
    }
    typing();
    this.#isTypingAhead = true;
    this.#show();
  }

  #clearTypedAhead(): void {
    this.#erase();
    this.#takeDraft();
    this.#isTypingAhead = false;
    this.#events.idle?.();
    this.#wakeWaiting();
  }

  #takeLine(text: string): void {
    if (!this.#terminal.isInteractive) {
      this.#submit(text);
      return;
    }
    const goesOn = text.endsWith('\\') && !this.#isPasting && this.#reads.at(-1)?.kind !== 'answer';
    this.#lines.push(goesOn ? text.slice(0, -1) : text);
    if (this.#isPasting) return;
    if (goesOn) this.#show();
    else this.#settleAfterBurst();
  }

  /** Without bracketed paste, pasted lines arrive in one burst; an incomplete last line waits for Enter. */
  #settleAfterBurst(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    setImmediate(() => {
      this.#isSettling = false;
      if (this.#lines.length === 0) return;
      if (this.#readline.line !== '' || this.#isPasting) {
        if (!this.#isPasting) this.#show();
        return;
      }
      const text = this.#lines.join('\n');
      this.#lines = [];
      this.#submit(text);
    });
  }

  #submit(text: string): void {
    const read = this.#reads.at(-1);
    if (read?.kind !== 'answer') this.#remember(text);
    if (read) this.#settle(read, { kind: 'text', text });
    else this.#queue(text);
    this.#wakeWaiting();
  }

  #queue(text: string): void {
    if (!this.#terminal.isInteractive) {
      this.#ahead.push(text);
      return;
    }
    if (this.#isTypingAhead) this.#erase();
    this.#isTypingAhead = false;
    if (text.trim() !== '') {
      this.#ahead.push(text);
      this.#events.queued?.(text);
    }
    this.#events.idle?.();
  }

  /** Prints a queued message where it is sent, as if it were typed there. */
  #echoQueued(prompt: string, text: string): void {
    if (!this.#terminal.isInteractive) return;
    const echo = `${prompt}${text.replaceAll('\n', `\n${CONTINUED}`)}`;
    this.above(() => void this.#terminal.output.write(`${sanitize(echo)}\n`));
  }

  #remember(text: string): void {
    if (text.trim() === '') return;
    const before = this.#messages.indexOf(text);
    if (before >= 0) this.#messages.splice(before, 1);
    this.#messages.unshift(text);
    this.#messages.length = Math.min(this.#messages.length, HISTORY_SIZE);
    const { history } = this.#readline as { history?: string[] };
    history?.splice(0, history.length, ...this.#messages);
  }

  #open(read: Read): void {
    const below = this.#reads.at(-1);
    // The prompt below is restored with its draft when this read ends.
    if (this.isShowing && this.#terminal.isInteractive) this.#erase();
    this.#isTypingAhead = false;
    if (below) below.draft = this.#takeDraft();
    else if (read.kind === 'answer') this.#idleDraft = this.#takeDraft();
    this.#reads.push(read);
    this.#show();
  }

  #settle(read: Read, end: ReadEnd): void {
    const index = this.#reads.indexOf(read);
    if (index < 0) return;
    const wasNewest = index === this.#reads.length - 1;
    this.#reads.splice(index, 1);
    if (wasNewest) {
      const below = this.#reads.at(-1);
      this.#giveDraft(below ? below.draft : this.#idleDraft);
      this.#idleDraft = { line: '', lines: [] };
      this.#show();
      this.#showTypedAhead();
      if (!this.isShowing) this.#events.idle?.();
    }
    read.settle(end);
  }

  #withdraw(read: Read): void {
    if (this.#reads.at(-1) === read && this.#terminal.isInteractive) this.#terminal.output.write('\n');
    this.#settle(read, { kind: 'withdrawn' });
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.isShowing && this.#terminal.isInteractive) this.#terminal.output.write('\n');
    this.#isTypingAhead = false;
    for (const wake of this.#waiting.splice(0)) wake();
    if (this.#reads.length === 0) this.#events.stray('ended');
    for (const { settle } of this.#reads.splice(0)) settle({ kind: 'ended' });
  }

  #show(): void {
    if (!this.isShowing || !this.#terminal.isInteractive || this.#hasEnded) return;
    const prompt = this.#reads.at(-1)?.prompt ?? QUEUE_PROMPT;
    this.#readline.prevRows = 0;
    this.#readline.setPrompt(this.#lines.length > 0 ? CONTINUED : prompt);
    this.#readline.prompt(true);
  }

  /** Removes the input line from the screen. */
  #erase(): void {
    const { output } = this.#terminal;
    moveCursor(output, 0, -this.#readline.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
  }

  #takeDraft(): Draft {
    const draft = { line: this.#readline.line, lines: this.#lines };
    this.#giveDraft({ line: '', lines: [] });
    return draft;
  }

  #giveDraft({ line, lines }: Draft): void {
    this.#readline.line = line;
    this.#readline.cursor = line.length;
    this.#lines = lines;
  }

  /** Keys are echoed only while an input line is shown. */
  #echo(): Writable {
    const { output, columns } = this.#terminal;
    const echo = new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        if (this.isShowing) output.write(chunk);
        done();
      },
    });
    return Object.defineProperty(echo, 'columns', { get: columns });
  }
}

/** Bracketed paste mode: the terminal marks the start and end of pasted text. */
export const PASTE_ON = '\u001b[?2004h';
export const PASTE_OFF = '\u001b[?2004l';
