import { LineEditor } from '../../chat/line-editor.ts';
import { Screen } from '../../chat/screen.ts';
import { processTerminal } from '../../chat/terminal.ts';
import type { Candidate } from './candidate.ts';
import { chooseServers } from './dialogue.ts';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Asks the person at the terminal; gives the exit code if they left without an answer. */
export async function askAtTerminal(
  candidates: readonly Candidate[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[] | number> {
  const terminal = processTerminal(env);
  const over = new AbortController();
  const listeners = Object.entries(SIGNALS).map(([name, code]) => [name, () => over.abort(code)] as const);
  for (const [name, listener] of listeners) process.on(name, listener);
  try {
    using editor = new LineEditor(terminal, { stray: () => over.abort(1) });
    const screen = new Screen(terminal);
    const end = await chooseServers(candidates, {
      print: (pieces) => screen.print(pieces),
      ask: (prompt) => editor.read(prompt, 'answer', over.signal),
    });
    if (end.kind === 'chosen') return end.candidates;
    if (end.kind === 'withdrawn') return Number(over.signal.reason);
    return end.kind === 'interrupted' ? SIGNALS.SIGINT : 1;
  } finally {
    for (const [name, listener] of listeners) process.off(name, listener);
  }
}
