import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import { neutralise } from './neutralise.ts';
import type { Terminal } from './terminal.ts';

/** How a read ended: a text, Ctrl-C, the end of the input, or its own signal. */
export type ReadEnd =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'withdrawn' };

/** A message may have several lines and is remembered; an answer is neither, and nothing typed before it counts for it. */
export type ReadKind = 'message' | 'answer';

type Read = {
  readonly prompt: string;
  readonly kind: ReadKind;
  readonly settle: (end: ReadEnd) => void;
  draft: Draft;
};

/** What is typed and not yet sent: the line being edited, and the lines before it of a message that goes on. */
type Draft = { readonly line: string; readonly lines: string[] };

/** `line` and the rest are plain properties of readline, which its types do not let write. */
type Editable = { line: string; cursor: number; prevRows: number };

const CONTINUED = '… ';

/**
 * What a person types, by readline: editing, history, pasted lines kept together. Reads may be nested: the newest one has
 * the keyboard, the one below gets its draft back. What is typed while nobody reads is kept for the next message.
 */
export class LineEditor implements Disposable {
  readonly #terminal: Terminal;
  readonly #readline: Interface & Editable;
  readonly #reads: Read[] = [];
  /** Whole messages that came while nobody read them. */
  readonly #ahead: string[] = [];
  readonly #onStray: (key: 'interrupted' | 'ended') => void;
  #lines: string[] = [];
  #idleDraft: Draft = { line: '', lines: [] };
  #isPasting = false;
  #isSettling = false;
  #hasEnded = false;

  /** `onStray` hears of Ctrl-C and of the end of the input while nobody reads. */
  constructor(terminal: Terminal, onStray: (key: 'interrupted' | 'ended') => void) {
    this.#terminal = terminal;
    this.#onStray = onStray;
    this.#readline = createInterface({
      input: terminal.input,
      output: this.#echo(),
      terminal: terminal.isInteractive,
      historySize: 1000,
      removeHistoryDuplicates: true,
    }) as Interface & Editable;
    this.#readline.on('line', (text) => this.#takeLine(text));
    this.#readline.on('SIGINT', () => this.interrupt());
    this.#readline.on('close', () => this.#end());
    // It passes on what goes wrong with the input, which its owner hears of itself.
    this.#readline.on('error', () => {});
    this.#readline.on('history', (history: string[]) => {
      if (this.#reads.at(-1)?.kind === 'answer') history.shift();
    });
    terminal.input.on('keypress', this.#onKey);
    if (terminal.isInteractive) terminal.output.write(PASTE_ON);
  }

  get isReading(): boolean {
    return this.#reads.length > 0;
  }

  read(prompt: string, kind: ReadKind, signal?: AbortSignal): Promise<ReadEnd> {
    const next = kind === 'message' ? this.#ahead.shift() : undefined;
    if (next !== undefined) return Promise.resolve({ kind: 'text', text: next });
    if (signal?.aborted) return Promise.resolve({ kind: 'withdrawn' });
    if (this.#hasEnded) return Promise.resolve({ kind: 'ended' });
    const { promise, resolve } = Promise.withResolvers<ReadEnd>();
    const read: Read = { prompt: neutralise(prompt), kind, settle: resolve, draft: { line: '', lines: [] } };
    const onAbort = () => this.#withdraw(read);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#open(read);
    return promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  /** Prints above what is being typed. */
  above(print: () => void): void {
    if (!this.isReading || !this.#terminal.isInteractive) {
      print();
      return;
    }
    const { output } = this.#terminal;
    moveCursor(output, 0, -this.#readline.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    print();
    this.#show();
  }

  /** One Ctrl-C: the draft if there is one, else the newest read, else whatever runs. */
  interrupt(): void {
    const read = this.#reads.at(-1);
    const hadDraft = this.#readline.line !== '' || this.#lines.length > 0;
    this.#takeDraft();
    if (!read) {
      this.#onStray('interrupted');
      return;
    }
    if (this.#terminal.isInteractive) this.#terminal.output.write('^C\n');
    if (read.kind === 'message' && hadDraft) this.#show();
    else this.#settle(read, { kind: 'interrupted' });
  }

  [Symbol.dispose](): void {
    this.#terminal.input.off('keypress', this.#onKey);
    if (this.#terminal.isInteractive) this.#terminal.output.write(PASTE_OFF);
    this.#readline.close();
  }

  readonly #onKey = (_: unknown, key: { name?: string } | undefined) => {
    if (key?.name === 'paste-start') this.#isPasting = true;
    if (key?.name === 'paste-end') this.#isPasting = false;
  };

  #takeLine(text: string): void {
    if (!this.#terminal.isInteractive) {
      this.#submit(text);
      return;
    }
    const goesOn = text.endsWith('\\') && !this.#isPasting && this.#reads.at(-1)?.kind !== 'answer';
    this.#lines.push(goesOn ? text.slice(0, -1) : text);
    if (this.#isPasting) return;
    if (goesOn) this.#show();
    else this.#settleSoon();
  }

  /** Lines pasted into a terminal that does not mark pastes come in one burst; a rest without an end waits for Enter. */
  #settleSoon(): void {
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
    if (read) this.#settle(read, { kind: 'text', text });
    else this.#ahead.push(text);
  }

  #open(read: Read): void {
    const below = this.#reads.at(-1);
    if (below) below.draft = this.#takeDraft();
    else if (read.kind === 'answer') this.#idleDraft = this.#takeDraft();
    if (below && this.#terminal.isInteractive) this.#terminal.output.write('\n');
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
    }
    read.settle(end);
  }

  #withdraw(read: Read): void {
    if (this.#reads.at(-1) === read && this.#terminal.isInteractive) this.#terminal.output.write('\n');
    this.#settle(read, { kind: 'withdrawn' });
  }

  #end(): void {
    this.#hasEnded = true;
    if (this.isReading && this.#terminal.isInteractive) this.#terminal.output.write('\n');
    if (!this.isReading) this.#onStray('ended');
    for (const { settle } of this.#reads.splice(0)) settle({ kind: 'ended' });
  }

  #show(): void {
    const read = this.#reads.at(-1);
    if (!read || !this.#terminal.isInteractive || this.#hasEnded) return;
    this.#readline.prevRows = 0;
    this.#readline.setPrompt(this.#lines.length > 0 ? CONTINUED : read.prompt);
    this.#readline.prompt(true);
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

  /** Keys are echoed only while somebody reads. */
  #echo(): Writable {
    const { output, columns } = this.#terminal;
    const echo = new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => {
        if (this.isReading) output.write(chunk);
        done();
      },
    });
    return Object.defineProperty(echo, 'columns', { get: columns });
  }
}

/** Asks the terminal to mark what is pasted. */
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
