import { type Asking, askFor, type Left, runDialogue } from '../../terminal/dialogue.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { pendingPieces } from '../approve/dialogue.ts';
import { type Candidate, decideImport, isOpenToChoice } from './candidate.ts';

type Chosen = { readonly kind: 'chosen'; readonly candidates: readonly Candidate[] };

/** Asks once for all servers, or about each. Nothing is written before the last answer. */
export async function chooseServers(
  candidates: readonly Candidate[],
  asking: Asking,
): Promise<Chosen | Left> {
  const open = candidates.filter(isOpenToChoice);
  const plain = open.filter((it) => decideImport(it, { force: false, projectFiles: false }).kind === 'take');
  const answers = { a: 'all', all: 'all', o: 'one', one: 'one', n: 'none', none: 'none' } as const;
  const how = await askFor(asking, 'import? ', answers, choices(plain.length));
  if (typeof how !== 'string') return how;
  if (how === 'none') return { kind: 'chosen', candidates: [] };
  // Entries of project files are always shown before they are imported.
  const asked = how === 'one' ? open : open.filter((it) => it.isOfProject && !it.server.isOff);
  const chosen = how === 'all' ? plain.filter((it) => !asked.includes(it)) : [];
  for (const candidate of asked) {
    asking.print([about(candidate), ...(candidate.isOfProject ? wholeEntry(candidate) : [])]);
    const yes = await askFor(asking, 'import it? (y or n) ', { y: 'yes', yes: 'yes', n: 'no', no: 'no' });
    if (typeof yes !== 'string') return yes;
    if (yes === 'yes') chosen.push(candidate);
  }
  return { kind: 'chosen', candidates: chosen };
}

function choices(count: number): Piece {
  const all = count === 0 ? [] : [['  a', 'strong'] as const, ` all ${count} new   `];
  return line(...all, ['  o', 'strong'], ' one by one   ', ['n', 'strong'], ' none');
}

function about({ server, title, isOfProject, comparison }: Candidate): Piece {
  const facts = [
    ...(isOfProject ? ['from a project file'] : []),
    ...(server.isOff ? ['disabled there'] : []),
    ...(comparison.kind === 'differs' ? [`replaces the entry in ${comparison.where}`] : []),
  ];
  return line(
    ['? ', 'warn'],
    [server.name, 'strong'],
    ` from ${title}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`,
  );
}

/** The complete entry: a project file may come from an untrusted author. */
function wholeEntry({ server: { name, entry }, path }: Candidate): Piece[] {
  const written = { name, scope: 'project', label: path, raw: entry } as const;
  return pendingPieces({ kind: 'server', written, choice: 'new' }).slice(1);
}

/** Asks at the terminal; returns the exit code if the user leaves without an answer. */
export async function askToImport(
  candidates: readonly Candidate[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[] | number> {
  const end = await runDialogue(env, (asking) => chooseServers(candidates, asking));
  return typeof end === 'number' ? end : end.candidates;
}
