import { isRecord } from '../../../base/json-value.ts';
import { notUnderstood } from '../../terminal/dialogue.ts';
import { line, type Piece, type Span } from '../../terminal/render.ts';
import { type PermissionAnswer, type PermissionRequest, relayedLine } from './permission.ts';
import type { Asking } from './questions.ts';

/** Asks what a tool wants to know from the user, rather than whether it may run; undefined for other tools. */
export function userDialogue(
  request: PermissionRequest,
): ((asking: Asking) => Promise<PermissionAnswer>) | undefined {
  if (request.tool === 'AskUserQuestion') return (asking) => askQuestions(request, asking);
  return request.tool === 'ExitPlanMode' ? (asking) => approvePlan(request, asking) : undefined;
}

type Question = {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly isMulti: boolean;
};

const HOW = 'enter the number of an option, or your own answer; an empty line skips the question';
const HOW_MULTI =
  'enter the numbers of options, such as 1,3, or your own answer; an empty line skips the question';
const DISMISSED = 'The user dismissed the questions.';
const WITHDRAWN = 'The request was withdrawn.';

async function askQuestions({ input }: PermissionRequest, asking: Asking): Promise<PermissionAnswer> {
  const answers: Record<string, string> = {};
  for (const question of parseQuestions(input)) {
    const rows = question.options.map(({ label, description }, at) =>
      choice(String(at + 1), label, ...(description ? [[`  ${description}`, 'dim'] as const] : [])),
    );
    const how = line([`  ${question.isMulti ? HOW_MULTI : HOW}`, 'dim']);
    asking.print([line(['? ', 'warn'], [question.question, 'strong']), ...rows, how]);
    const end = await asking.ask('answer> ');
    if (end.kind === 'withdrawn') return denied(WITHDRAWN, 'withdrawn');
    if (end.kind !== 'text') return denied(DISMISSED, 'you');
    const answer = parseChoice(end.text, question);
    if (answer !== '') answers[question.question] = answer;
  }
  return allowed({ behavior: 'allow', updatedInput: { ...input, answers } });
}

/** The labels of the chosen numbers, or the text itself if it is not a number of an option. */
export function parseChoice(typed: string, { options, isMulti }: Question): string {
  const text = typed.trim();
  const numbers = (isMulti ? text.split(/[\s,]+/) : [text]).filter((it) => it !== '');
  const labels = numbers.map((it) => (/^[1-9]\d*$/.test(it) ? options[Number(it) - 1]?.label : undefined));
  return labels.length > 0 && labels.every((it) => it !== undefined) ? [...new Set(labels)].join(', ') : text;
}

function parseQuestions({ questions }: Readonly<Record<string, unknown>>): Question[] {
  if (!Array.isArray(questions)) return [];
  return questions.filter(isRecord).map(({ question, options, multiSelect }) => ({
    question: String(question),
    options: (Array.isArray(options) ? options : [])
      .filter(isRecord)
      .map(({ label, description }) => ({ label: String(label), description: String(description ?? '') })),
    isMulti: multiSelect === true,
  }));
}

async function approvePlan({ input, context }: PermissionRequest, asking: Asking): Promise<PermissionAnswer> {
  const { plan, planFilePath } = input;
  const text: Piece =
    typeof plan === 'string'
      ? { kind: 'flow', text: `${plan.trim()}\n` }
      : line(['  (there is no plan file)', 'dim']);
  asking.print([
    line(['? ', 'warn'], ['Approve this plan and leave plan mode?', 'strong']),
    text,
    ...(typeof planFilePath === 'string' ? [line([`  file: ${planFilePath}`, 'dim'])] : []),
    ...relayedLine(context),
  ]);
  for (;;) {
    asking.print([
      choice('y', 'yes'),
      choice('e', 'yes, and accept edits'),
      choice('n', 'keep planning; n <what to change> tells the model'),
    ]);
    const end = await asking.ask('approve? ');
    if (end.kind === 'withdrawn') return denied(WITHDRAWN, 'withdrawn');
    if (end.kind !== 'text') return denied('The user wants to keep planning.', 'you');
    const [, word = '', reason = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(end.text) ?? [];
    const answer = word.toLowerCase();
    if (answer === 'y' || answer === 'yes') return allowed({ behavior: 'allow' });
    if (answer === 'e' || answer === 'edits')
      return allowed({
        behavior: 'allow',
        updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
      });
    if (answer === 'n' || answer === 'no') return denied(reason || 'The user wants to keep planning.', 'you');
    asking.print([notUnderstood(end.text.trim())]);
  }
}

/** Each answer has its own line, so that the answers can be read at any width. */
function choice(key: string, ...spans: Span[]): Piece {
  return { kind: 'line', spans: ['  ', [key, 'strong'], ' ', ...spans], overflow: 'wrap', hang: 4 };
}

function allowed(result: PermissionAnswer['result']): PermissionAnswer {
  return { result, verdict: { behavior: 'allow', by: 'you', how: 'once' } };
}

function denied(message: string, by: PermissionAnswer['verdict']['by']): PermissionAnswer {
  return { result: { behavior: 'deny', message }, verdict: { behavior: 'deny', by, reason: message } };
}
