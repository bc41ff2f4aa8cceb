import { LineEditor } from '../../chat/line-editor.ts';
import { Screen } from '../../chat/screen.ts';
import { processTerminal } from '../../chat/terminal.ts';
import { holdDialogue } from './dialogue.ts';
import type { Decisions, Pending } from './pending.ts';

/** Asks the person at the terminal; gives the exit code if they left without an answer. */
export async function askAtTerminal(
  pending: readonly Pending[],
  directory: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Decisions | number> {
  const terminal = processTerminal(env);
  const over = new AbortController();
  using _signals = heeded(over);
  using editor = new LineEditor(terminal, { stray: () => over.abort(1) });
  const screen = new Screen(terminal);
  const end = await holdDialogue(pending, directory, {
    print: (pieces) => screen.print(pieces),
    ask: (prompt) => editor.read(prompt, 'answer', over.signal),
  });
  if (end.kind === 'decided') return end.decisions;
  if (end.kind === 'withdrawn') return Number(over.signal.reason);
  return end.kind === 'interrupted' ? 130 : 1;
}

/** The terminal must be left as it was found. */
function heeded(over: AbortController): Disposable {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  const all = Object.entries(codes).map(([name, code]) => [name, () => over.abort(code)] as const);
  for (const [name, listener] of all) process.on(name, listener);
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of all) process.off(name, listener);
    },
  };
}
