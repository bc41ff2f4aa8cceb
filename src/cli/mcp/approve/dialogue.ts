import type { ReadEnd } from '../../chat/line-editor.ts';
import { line, type Piece, type Span } from '../../chat/piece.ts';
import { pendingPieces } from './as-written.ts';
import type { Decisions, Pending } from './pending.ts';

/** Where the dialogue takes place. */
export type Asking = {
  print(pieces: readonly Piece[]): void;
  ask(prompt: string): Promise<ReadEnd>;
};

export type DialogueEnd =
  | { readonly kind: 'decided'; readonly decisions: Decisions }
  /** Nothing was decided. */
  | { readonly kind: 'interrupted' | 'ended' | 'withdrawn' };

/** Shows each thing and asks about it, also whether the directory is trusted if one is given; nothing is done before the last answer, so that who leaves leaves no half. */
export async function holdDialogue(
  all: readonly Pending[],
  directory: string | undefined,
  asking: Asking,
): Promise<DialogueEnd> {
  const answers: { readonly pending: Pending; readonly answer: Answer }[] = [];
  for (const [at, pending] of all.entries()) {
    asking.print([...(at > 0 ? [line('')] : []), ...pendingPieces(pending)]);
    const answer = await answerTo(directory, asking);
    if (typeof answer !== 'string') return { kind: answer.end };
    answers.push({ pending, answer });
    if (answer === 'quit' || answer === 'trust') break;
  }
  return { kind: 'decided', decisions: decisionsOf(answers, directory) };
}

/** What trusting a directory means, in words. */
export function trustWords(directory: string): string {
  return `every server, hook, allow rule and variable in ${directory}, now and after every pull, will count without a question`;
}

type Answer = 'yes' | 'no' | 'skip' | 'trust' | 'quit';

const WORDS: Readonly<Record<string, Answer>> = {
  y: 'yes',
  yes: 'yes',
  n: 'no',
  no: 'no',
  s: 'skip',
  skip: 'skip',
  t: 'trust',
  trust: 'trust',
  q: 'quit',
  quit: 'quit',
};

type Left = { readonly end: 'interrupted' | 'ended' | 'withdrawn' };

async function answerTo(directory: string | undefined, asking: Asking): Promise<Answer | Left> {
  for (;;) {
    asking.print([choices(directory)]);
    const end = await asking.ask('approve? ');
    if (end.kind !== 'text') return { end: end.kind };
    const word = end.text.trim().toLowerCase();
    const answer = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
    if (answer !== undefined && answer !== 'trust') return answer;
    if (answer === undefined || directory === undefined) continue;
    asking.print([line(['  trust means: ', 'warn'], trustWords(directory))]);
    const sure = await surely(asking);
    if (typeof sure !== 'boolean') return sure;
    if (sure) return 'trust';
  }
}

/** So much is not given by one key. */
async function surely(asking: Asking): Promise<boolean | Left> {
  for (;;) {
    const end = await asking.ask('trust all of it? (yes or no) ');
    if (end.kind !== 'text') return { end: end.kind };
    const word = end.text.trim().toLowerCase();
    if (word !== 'y') return word === 'yes';
    asking.print([line('  type yes if you mean it')]);
  }
}

function choices(directory: string | undefined): Piece {
  const trust: Span[] = directory === undefined ? [] : [['t', 'strong'], ' trust the whole repository   '];
  return line(
    ['  y', 'strong'],
    ' yes   ',
    ['n', 'strong'],
    ' no, reject it   ',
    ['s', 'strong'],
    ' skip   ',
    ...trust,
    ['q', 'strong'],
    ' stop here',
  );
}

function decisionsOf(
  answers: readonly { readonly pending: Pending; readonly answer: Answer }[],
  directory: string | undefined,
): Decisions {
  const servers = (wanted: Answer) =>
    answers.flatMap(({ pending, answer }) =>
      answer === wanted && pending.kind === 'server' ? [pending.written] : [],
    );
  const settings = (wanted: Answer) =>
    answers.flatMap(({ pending, answer }) =>
      answer === wanted && pending.kind === 'settings' ? [pending.source] : [],
    );
  const isTrusted = answers.some(({ answer }) => answer === 'trust');
  return {
    approved: servers('yes'),
    rejected: servers('no'),
    settings: settings('yes'),
    rejectedSettings: settings('no'),
    ...(isTrusted && directory !== undefined && { trusted: directory }),
  };
}
