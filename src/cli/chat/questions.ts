import type { LineEditor, ReadEnd } from '../terminal/line-editor.ts';
import { line, type Piece } from '../terminal/render.ts';

/** How a question was answered; `command` is one that the question itself offered. */
export type AskEnd = ReadEnd | { readonly kind: 'command'; readonly name: string };

/** What a question may do while it is its turn. */
export type Asking = {
  print(pieces: readonly Piece[]): void;
  /**
   * One line from the person, or how there came none. A line that begins with a slash is a command of the chat or one of
   * `own`, never an answer; `//` begins an answer with a slash.
   */
  ask(prompt: string, own?: readonly string[]): Promise<AskEnd>;
};

export type QuestionsDeps = {
  readonly editor: Pick<LineEditor, 'read' | 'untilNotTyping'>;
  print(pieces: readonly Piece[]): void;
  /** Runs a command that was typed into a question. */
  command(text: string): Promise<void>;
};

const WAITING = 'A question waits until your line is sent or cleared (Ctrl-C).';

/** Questions to the person at the terminal, one at a time in the order they came. */
export class Questions {
  readonly #deps: QuestionsDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(world: QuestionsDeps) {
    this.#deps = world;
  }

  /** Waits for its turn, then holds the dialogue; `undefined` if the question was withdrawn before it began. */
  async hold<T>(dialogue: (asking: Asking) => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { editor, print } = this.#deps;
    const turn = this.#last.then(async () => {
      // The rest of a line that is being typed must not become an answer.
      await editor.untilNotTyping(signal, () => print([line([WAITING, 'warn'])]));
      if (signal.aborted) return undefined;
      return dialogue({ print, ask: (prompt, own = []) => this.#ask(prompt, own, signal) });
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #ask(prompt: string, own: readonly string[], signal: AbortSignal): Promise<AskEnd> {
    for (;;) {
      const end = await this.#deps.editor.read(prompt, 'answer', signal);
      if (end.kind !== 'text') return end;
      const read = parseAnswer(end.text);
      if (read.kind === 'answer') return { kind: 'text', text: read.text };
      if (own.includes(read.name)) return { kind: 'command', name: read.name };
      await this.#deps.command(end.text.trim());
    }
  }
}

/** Tells answers from commands. A name with another slash is a path, which is an answer. */
export function parseAnswer(
  typed: string,
): { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'command'; readonly name: string } {
  const text = typed.trimStart();
  if (text.startsWith('//')) return { kind: 'answer', text: text.slice(1) };
  const [, name] = /^\/([^\s/]+)(?=\s|$)/.exec(text) ?? [];
  return name === undefined ? { kind: 'answer', text: typed } : { kind: 'command', name };
}
