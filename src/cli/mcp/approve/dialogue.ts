import { isRecord } from '../../../base/json-value.ts';
import { visibleText } from '../../../base/text/display-text.ts';
import { isCredentialName } from '../../../base/text/redact.ts';
import { approvablePart } from '../../../config/approval/approved-content.ts';
import type { WrittenServer } from '../../../config/model.ts';
import type { SettingsSource } from '../../../config/sources/source-types.ts';
import { type Asking, askFor, type Left, notUnderstood, runDialogue } from '../../terminal/dialogue.ts';
import { line, type Piece, type Span } from '../../terminal/render.ts';
import { whereText } from '../entries.ts';
import type { Decisions, Pending } from './pending.ts';

type Decided = { readonly kind: 'decided'; readonly decisions: Decisions };

/** Shows and asks about each item, with trust for `directory` as an option. Nothing is written before the last answer. */
export async function holdDialogue(
  all: readonly Pending[],
  directory: string | undefined,
  asking: Asking,
): Promise<Decided | Left> {
  const answers: { readonly pending: Pending; readonly answer: Answer }[] = [];
  for (const [at, pending] of all.entries()) {
    asking.print([...(at > 0 ? [line('')] : []), ...pendingPieces(pending)]);
    const answer = await answerTo(directory, asking);
    if (typeof answer !== 'string') return answer;
    answers.push({ pending, answer });
    if (answer === 'quit' || answer === 'trust') break;
  }
  return { kind: 'decided', decisions: decisionsOf(answers, directory) };
}

/** What trusting a directory means. */
export function trustText(directory: string): string {
  return `every server, hook, allow rule and variable in ${directory} will be active without approval, now and after every pull`;
}

type Answer = 'yes' | 'no' | 'skip' | 'trust' | 'quit';

const ANSWERS: Readonly<Record<string, Answer>> = {
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

async function answerTo(directory: string | undefined, asking: Asking): Promise<Answer | Left> {
  for (;;) {
    const answer = await askFor(asking, 'approve? ', ANSWERS, choices(directory));
    if (answer !== 'trust') return answer;
    if (directory === undefined) {
      asking.print([notUnderstood('t')]);
      continue;
    }
    asking.print([line(['  trust means: ', 'warn'], trustText(directory))]);
    const isSure = await confirmTrust(asking);
    if (typeof isSure !== 'boolean') return isSure;
    if (isSure) return 'trust';
  }
}

/** Trust requires the full word. */
async function confirmTrust(asking: Asking): Promise<boolean | Left> {
  for (;;) {
    const end = await asking.ask('trust the whole repository? (yes or no) ');
    if (end.kind !== 'text') return end;
    const word = end.text.trim().toLowerCase();
    if (word !== 'y') return word === 'yes';
    asking.print([line('  type yes to confirm')]);
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

/** Asks at the terminal; returns the exit code if the user leaves without an answer. */
export async function askToApprove(
  pending: readonly Pending[],
  directory: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Decisions | number> {
  const end = await runDialogue(env, (asking) => holdDialogue(pending, directory, asking));
  return typeof end === 'number' ? end : end.decisions;
}

/** The pending item, complete and quoted, so that its text cannot be mistaken for output of Toolplane. */
export function pendingPieces(pending: Pending): Piece[] {
  const changed = pending.choice === 'changed' ? [line(['  changed since you approved it', 'warn'])] : [];
  if (pending.kind === 'server') {
    const { written } = pending;
    return [
      line(['? ', 'warn'], 'server ', [quoted(written.name), 'strong'], ` of ${whereText(written)}`),
      ...changed,
      ...rowsOf(written.raw),
      ...ignoredTrust(written),
    ];
  }
  const { source } = pending;
  const { definition } = source.value;
  if (typeof definition === 'string')
    return [
      line(
        ['? ', 'warn'],
        'file ',
        [source.label, 'strong'],
        ' would allow tool calls, run commands or set a permission mode; its content:',
      ),
      ...changed,
      ...definition.split('\n').map((row) => line(`  ${visibleText(row)}`)),
    ];
  return [
    line(['? ', 'warn'], 'settings in ', [source.label, 'strong'], ' that need approval:'),
    ...changed,
    ...settingsRows(source),
  ];
}

/** The part of a settings file that needs approval. */
export function settingsRows({ value }: Pick<SettingsSource, 'value'>): Piece[] {
  return rowsOf(approvablePart(value) ?? {});
}

/** Notes that "trust" in a shared file has no effect. */
function ignoredTrust({ scope, raw }: WrittenServer): Piece[] {
  if (scope !== 'project' || !isRecord(raw) || raw.trust !== true) return [];
  return [line(['  "trust" is ignored: it is not allowed in a shared file', 'dim'])];
}

/** Quotes a name with spaces or quotes. */
function quoted(name: string): string {
  return /^[\w.@/:-]+$/.test(name) ? name : JSON.stringify(name);
}

function rowsOf(value: unknown): Piece[] {
  const shown = isRecord(value) ? { ...value, ...maps(value) } : value;
  return JSON.stringify(shown, null, 2)
    .split('\n')
    .map((row) => line(`  ${row}`));
}

function maps({ env, headers }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...(isRecord(env) && { env: withoutCredentials(env, mayBeCredential) }),
    ...(isRecord(headers) && { headers: withoutCredentials(headers, () => true) }),
  };
}

/** Masks only values that can only be credentials: paths, commands and references stay visible. */
function withoutCredentials(
  map: Readonly<Record<string, unknown>>,
  mayBe: (name: string) => boolean,
): Record<string, unknown> {
  const shown = Object.entries(map).map(([name, value]) => [
    name,
    typeof value === 'string' && mayBe(name) ? value.replace(CREDENTIAL, '$1[hidden]') : value,
  ]);
  return Object.fromEntries(shown);
}

/** Values of names such as ASKPASS are commands, which must stay visible. */
function mayBeCredential(name: string): boolean {
  return isCredentialName(name) && !/ASKPASS|COMMAND|PATH/i.test(name);
}

const CREDENTIAL = /^((?:Bearer|Basic|Token)\s+)?[\w-]{16,}$/i;
