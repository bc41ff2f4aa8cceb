import { inputFrame } from './editor/input-rows.ts';
import { LineEditor, type ReadEnd } from './line-editor.ts';
import { cutLine, line, type Piece } from './render.ts';
import { type Frame, NO_FRAME, Screen } from './screen.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** Where a dialogue prints and asks. */
export type Asking = {
  print(pieces: readonly Piece[]): void;
  ask(prompt: string): Promise<ReadEnd>;
};

/** The user left without an answer. */
export type Left = Exclude<ReadEnd, { kind: 'text' }>;

/** Asks until the text is a key of `answers`; `keys` are printed before each question. */
export async function askFor<T extends string>(
  asking: Asking,
  prompt: string,
  answers: Readonly<Record<string, T>>,
  keys?: Piece,
): Promise<T | Left> {
  for (;;) {
    if (keys) asking.print([keys]);
    const end = await asking.ask(prompt);
    if (end.kind !== 'text') return end;
    const word = end.text.trim().toLowerCase();
    const answer = Object.hasOwn(answers, word) ? answers[word] : undefined;
    if (answer !== undefined) return answer;
    asking.print([notUnderstood(word)]);
  }
}

/** Says why a question is asked again. */
export function notUnderstood(answer: string): Piece {
  return cutLine([
    answer === '' ? '  An answer is required.' : `  ${JSON.stringify(answer)} was not understood.`,
    'warn',
  ]);
}

/** Exit codes after a signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Holds a dialogue at the terminal of this process; returns the exit code if the user leaves without an answer. */
export async function runDialogue<T extends { readonly kind: string }>(
  env: NodeJS.ProcessEnv,
  dialogue: (asking: Asking) => Promise<T | Left>,
): Promise<Exclude<T, Left> | number> {
  const terminal = processTerminal(env);
  const over = new AbortController();
  const listeners = Object.entries(SIGNALS).map(([name, code]) => [name, () => over.abort(code)] as const);
  for (const [name, listener] of listeners) process.on(name, listener);
  try {
    using shown = openDialogue(terminal, () => over.abort(1));
    const { editor, screen } = shown;
    const end = await dialogue({
      print: (pieces) => screen.print(pieces),
      ask: (prompt) => editor.read(prompt, 'answer', over.signal),
    });
    if (end.kind === 'withdrawn') return Number(over.signal.reason);
    if (end.kind === 'interrupted') return SIGNALS.SIGINT;
    return end.kind === 'ended' ? 1 : (end as Exclude<T, Left>);
  } finally {
    for (const [name, listener] of listeners) process.off(name, listener);
  }
}

/** An editor and the screen that shows it, for a few questions. */
export function openDialogue(
  terminal: Terminal,
  stray: () => void,
): Disposable & { readonly editor: LineEditor; readonly screen: Screen } {
  const screen = new Screen(terminal, (): Frame => {
    const { view } = editor;
    if (view.prompt === undefined) return NO_FRAME;
    const { hasColors } = terminal;
    return inputFrame(view, view.prompt, { columns: terminal.columns(), hasColors, maxRows: 10 });
  });
  const editor = new LineEditor(terminal, {
    stray,
    changed: () => screen.refresh(),
    prompted: (prompt) => screen.promptLinear(prompt),
    echoed: (prompt, text, mark = '') => screen.print([line(screen.isLive ? `${prompt}${text}${mark}` : '')]),
  });
  return {
    editor,
    screen,
    [Symbol.dispose]() {
      screen[Symbol.dispose]();
      editor[Symbol.dispose]();
    },
  };
}
