import { LineEditor, type ReadEnd } from '../../terminal/line-editor.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { Screen } from '../../terminal/screen.ts';
import { processTerminal } from '../../terminal/terminal.ts';
import { pendingPieces } from '../approve/dialogue.ts';
import { type Candidate, decideImport, isOpenToChoice } from './candidate.ts';

/** The terminal of the dialogue. */
type Asking = {
  print(pieces: readonly Piece[]): void;
  ask(prompt: string): Promise<ReadEnd>;
};

type Chosen =
  | { readonly kind: 'chosen'; readonly candidates: readonly Candidate[] }
  | { readonly kind: Exclude<ReadEnd['kind'], 'text'> };

/** Asks once for all of them, or about each; nothing is written before the last answer. */
export async function chooseServers(candidates: readonly Candidate[], asking: Asking): Promise<Chosen> {
  const open = candidates.filter(isOpenToChoice);
  const plain = open.filter((it) => decideImport(it, { force: false, projectFiles: false }).kind === 'take');
  const keys = question(plain.length);
  asking.print([keys]);
  const how = await answer(
    asking,
    'take? ',
    { a: 'all', all: 'all', o: 'one', one: 'one', n: 'none', none: 'none' },
    keys,
  );
  if (typeof how !== 'string') return how;
  if (how === 'none') return { kind: 'chosen', candidates: [] };
  // What files of the project name is never taken without being looked at.
  const asked = how === 'one' ? open : open.filter((it) => it.isOfProject && !it.server.isOff);
  const chosen = how === 'all' ? plain.filter((it) => !asked.includes(it)) : [];
  for (const candidate of asked) {
    asking.print([about(candidate), ...(candidate.isOfProject ? wholeEntry(candidate) : [])]);
    const yes = await answer(asking, 'take it? (y or n) ', { y: 'yes', yes: 'yes', n: 'no', no: 'no' });
    if (typeof yes !== 'string') return yes;
    if (yes === 'yes') chosen.push(candidate);
  }
  return { kind: 'chosen', candidates: chosen };
}

function question(count: number): Piece {
  const all = count === 0 ? [] : [['  a', 'strong'] as const, ` all ${count} new   `];
  return line(...all, ['  o', 'strong'], ' one by one   ', ['n', 'strong'], ' none');
}

function about({ server, title, isOfProject, comparison }: Candidate): Piece {
  const facts = [
    ...(isOfProject ? ['of a file in the project'] : []),
    ...(server.isOff ? ['turned off there'] : []),
    ...(comparison.kind === 'differs' ? [`it replaces the one of ${comparison.where}`] : []),
  ];
  return line(
    ['? ', 'warn'],
    [server.name, 'strong'],
    ` of ${title}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`,
  );
}

/** What anybody may have written is seen as a whole before it is taken. */
function wholeEntry({ server: { name, entry }, path }: Candidate): Piece[] {
  const written = { name, scope: 'project', label: path, raw: entry } as const;
  return pendingPieces({ kind: 'server', written, choice: 'new' }).slice(1);
}

async function answer<T extends string>(
  asking: Asking,
  prompt: string,
  answers: Readonly<Record<string, T>>,
  /** Shown again to who answers otherwise. */
  keys?: Piece,
): Promise<T | { readonly kind: Exclude<ReadEnd['kind'], 'text'> }> {
  for (;;) {
    const end = await asking.ask(prompt);
    if (end.kind !== 'text') return { kind: end.kind };
    const word = end.text.trim().toLowerCase();
    const closest = Object.hasOwn(answers, word) ? answers[word] : undefined;
    if (closest !== undefined) return closest;
    if (keys) asking.print([keys]);
  }
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Asks at the terminal; returns the exit code if the user leaves without an answer. */
export async function askToImport(
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
