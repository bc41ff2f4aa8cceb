import type { LineEditor, ReadEnd } from '../../terminal/line-editor.ts';
import { line, type Piece } from '../../terminal/render.ts';

/** The end of a question; `command` is one of the question's own commands. */
export type AskEnd = ReadEnd | { readonly kind: 'command'; readonly name: string };

/** What a dialogue may do while it has the terminal. */
export type Asking = {
  print(pieces: readonly Piece[]): void;
  /**
   * Reads one line. A line that starts with a slash is a command of the chat or one of
   * `own`, never an answer; `//` starts an answer with a slash.
   */
  ask(prompt: string, own?: readonly string[]): Promise<AskEnd>;
};

export type QuestionsDeps = {
  readonly editor: Pick<LineEditor, 'read' | 'untilNotTyping'>;
  print(pieces: readonly Piece[]): void;
  /** Runs a slash command that was typed at a question. */
  command(text: string): Promise<void>;
};

const WAITING = 'A question is waiting: first send your line, or clear the line with Ctrl-C.';

/** Asks questions at the terminal, one at a time, in order. */
export class Questions {
  readonly #deps: QuestionsDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
  }

  /** Waits for its turn, then runs the dialogue; `undefined` if the question was withdrawn before. */
  async hold<T>(dialogue: (asking: Asking) => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const { editor, print } = this.#deps;
    const turn = this.#last.then(async () => {
      // A line that is partly typed must not become an answer.
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

/** Parses an answer or a command. A name with another slash is a path, which is an answer. */
export function parseAnswer(
  typed: string,
): { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'command'; readonly name: string } {
  const text = typed.trimStart();
  if (text.startsWith('//')) return { kind: 'answer', text: text.slice(1) };
  const [, name] = /^\/([^\s/]+)(?=\s|$)/.exec(text) ?? [];
  return name === undefined ? { kind: 'answer', text: typed } : { kind: 'command', name };
}
