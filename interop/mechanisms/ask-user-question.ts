import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

function question(name: string, multiSelect: boolean, ...labels: string[]) {
  return {
    question: name,
    header: 'H',
    multiSelect,
    options: labels.map((label) => ({ label, description: 'd' })),
  };
}

const QUESTIONS = [question('Size?', false, 'S', 'L'), question('Colors?', true, 'Red', 'Blue')];

const CASES: readonly [input: object, answer: object | undefined][] = [
  [{ questions: QUESTIONS }, { answers: { 'Size?': 'S', 'Colors?': 'Red, Blue' } }],
  [{ questions: QUESTIONS }, { answers: { 'Size?': 'XXL', 'Colors?': 'Red' } }],
  [{ questions: QUESTIONS }, { answers: { 'Size?': 'S' } }],
  [{ questions: QUESTIONS }, { answers: { 'Size?': 'S', 'Colors?': ['Red', 'Blue'] } }],
  [
    { questions: QUESTIONS },
    { answers: { 'Size?': 'S' }, annotations: { 'Size?': { preview: 'P', notes: 'N' } } },
  ],
  [{ questions: QUESTIONS }, { response: 'Let us talk.' }],
  [{ questions: QUESTIONS }, {}],
  [{ questions: QUESTIONS, answers: { 'Size?': 'S' } }, {}],
  [{ questions: QUESTIONS }, undefined],
  [{ questions: [question('One?', false, 'S')] }, {}],
  [{ questions: [QUESTIONS[0], QUESTIONS[0]] }, {}],
];

export const script = (_: unknown, n: number) => {
  const [input] = CASES[n - 1] ?? [];
  return input ? toolUse('AskUserQuestion', input) : text('Done.');
};

/** Questions of the model: who is asked, and what the model and the program get for each kind of answer. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const asked: unknown[] = [];
  const results: unknown[] = [];
  const answers = CASES.map(([, answer]) => answer);
  const query = sdk.query({
    prompt: 'Ask.',
    options: {
      ...options(sandbox),
      tools: ['AskUserQuestion'],
      permissionMode: 'acceptEdits',
      canUseTool: async (tool, input, { displayName }) => {
        asked.push({ tool, displayName, questions: input.questions });
        const answer = answers.shift();
        return answer
          ? { behavior: 'allow', updatedInput: { ...input, ...answer } }
          : { behavior: 'deny', message: 'no questions' };
      },
    },
  });
  for await (const message of query) {
    if (message.type !== 'user') continue;
    const { tool_use_result: result } = message;
    results.push(typeof result === 'string' ? 'error' : result);
  }
  // The beginnings of the texts are known to programs, the advice after them is not.
  const texts = sandbox.api.requests.flatMap(toolResults).map(({ isError, content }) => {
    const known = /^[^"]*(?:"[^"]*"="[^"]*"(?: selected preview:\nP notes: N)?(?:, )?)*/.exec(
      String(content),
    )?.[0];
    return { isError, content: isError && known?.startsWith('<tool_use_error>') ? 'invalid' : known };
  });
  return { asked, results, texts };
}
