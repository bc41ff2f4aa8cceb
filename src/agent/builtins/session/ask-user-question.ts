import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn, invalidInput, type Members } from '../built-in.ts';

const OPEN = { type: 'object', properties: {}, required: [], additionalProperties: true } as const;
const OPTION = {
  type: 'object',
  properties: {
    label: { type: 'string', minLength: 1, description: 'The option in one to five words.' },
    description: { type: 'string', description: 'What happens if it is chosen.' },
    preview: { type: 'string', description: 'A mock-up or code that shows the option.' },
  },
  required: ['label', 'description'],
  additionalProperties: false,
} as const;
const QUESTION = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1, description: 'The whole question.' },
    header: { type: 'string', description: 'The topic in at most 12 characters.' },
    options: {
      type: 'array',
      description: 'Two to four options that differ. The user can always answer in their own words.',
      items: OPTION,
      minItems: 2,
      maxItems: 4,
    },
    multiSelect: { type: 'boolean', description: 'Whether several options may be chosen.' },
  },
  required: ['question', 'header', 'options'],
  additionalProperties: false,
} as const;
/** What the answer to the permission request adds to the input; members of these names in calls of the model are dropped. */
const ANSWER = { answers: OPEN, annotations: OPEN, response: { type: 'string' } } as const satisfies Members;

type Question = {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string }[];
  readonly multiSelect?: boolean;
};

type Answer = {
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, { readonly preview?: unknown; readonly notes?: unknown }>>;
  readonly response?: string;
};

/** Asks the user questions. The program or the chat answers them as it answers permission requests. */
export const ASK_USER_QUESTION = defineBuiltIn({
  name: 'AskUserQuestion',
  description:
    'Asks the user one to four questions with options to choose from, and waits for the answers. Use it only for decisions ' +
    'that only the user can make and that the request, the code and sensible defaults leave open. Put an option that you ' +
    'recommend first and end its label with "(Recommended)".',
  annotations: { title: 'AskUserQuestion', readOnlyHint: true },
  needsPerson: true,
  asksQuestion: true,
  required: { questions: { type: 'array', items: QUESTION, minItems: 1, maxItems: 4 } },
  optional: {},
  unlisted: { ...ANSWER, metadata: OPEN },
  completed: ({ answers: _, annotations: __, response: ___, ...input }) => input,
  refusal: ({ questions }) => duplicates(questions as readonly Question[]),
  async run(input) {
    const { questions } = input;
    const { answers = {}, annotations, response } = input as Answer;
    if (Object.keys(answers).length > 100)
      return failedOutcome('The answers are not accepted: they have more than 100 members');
    return {
      content: answerText(questions, {
        answers,
        ...(annotations && { annotations }),
        ...(response && { response }),
      }),
      isError: false,
      programResult: {
        questions: questions.map((it) => ({ ...it, multiSelect: it.multiSelect ?? false })),
        answers,
        ...(annotations && { annotations }),
        ...(response && { response }),
      },
    };
  },
});

/** Answers are found by the text of the question, so it must be unique; so must labels. */
function duplicates(questions: readonly Question[]): string | undefined {
  const isUnique = (texts: readonly string[]) => new Set(texts).size === texts.length;
  const areUnique =
    isUnique(questions.map(({ question }) => question)) &&
    questions.every(({ options }) => isUnique(options.map(({ label }) => label)));
  if (areUnique) return undefined;
  const fault = 'questions must differ from each other, and so must the labels of one question';
  return invalidInput('AskUserQuestion', [fault]).content as string;
}

/** The answers as the model gets them. */
function answerText(
  questions: readonly Question[],
  { answers = {}, annotations = {}, response }: Answer,
): string {
  if (response) return `The user responded: ${response}`;
  const given = questions.filter(
    ({ question }) => Object.hasOwn(answers, question) && `${answers[question]}` !== '',
  );
  if (given.length === 0) return 'The user did not answer the questions.';
  const notesOf = (question: string) =>
    Object.hasOwn(annotations, question) ? annotations[question] : undefined;
  const isPlain = given.every((it) => isChoice(it, answers[it.question]) && !notesOf(it.question));
  const texts = given.map(({ question }) => {
    const { preview, notes } = notesOf(question) ?? {};
    const added = [
      ...(typeof preview === 'string' ? [`selected preview:\n${preview}`] : []),
      ...(typeof notes === 'string' ? [`notes: ${notes}`] : []),
    ];
    return [`"${question}"="${answers[question]}"`, ...added].join(' ');
  });
  return isPlain
    ? `Your questions have been answered: ${texts.join(', ')}. Continue with these answers in mind.`
    : `The user answered: ${texts.join(', ')}. Read the answers carefully: the user may have questions, want something else, or want you to stop.`;
}

/** Whether the answer consists of labels: of one, or of several if the question allows it. */
function isChoice({ options, multiSelect }: Question, answer: unknown): boolean {
  const labels = options.map(({ label }) => label);
  const text = String(answer);
  if (labels.includes(text)) return true;
  return multiSelect === true && text.split(',').every((part) => labels.includes(part.trim()));
}
