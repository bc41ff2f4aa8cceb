import { describe, expect, test } from 'vitest';
import { ASK_USER_QUESTION } from '../../../../src/agent/builtins/session/ask-user-question.ts';
import { text, toolUse } from '../../../../src/agent/models/scripted.ts';
import type { PermissionResult } from '../../../../src/protocol/permission.ts';
import { drive, untilResult } from '../../../support/drive.ts';
import { call, directoryWith, worldIn } from '../built-in-world.ts';

const question = (name: string, multiSelect: boolean, ...labels: string[]) => ({
  question: name,
  header: 'h',
  multiSelect,
  options: labels.map((label) => ({ label, description: 'd' })),
});
const QUESTIONS = [question('Size?', false, 'S', 'L'), question('Colors?', true, 'Red', 'Blue')];

describe('the answer for the model', () => {
  test.each<[string, object, RegExp]>([
    [
      'chosen labels',
      { answers: { 'Size?': 'S', 'Colors?': 'Red, Blue' } },
      /^Your questions have been answered: "Size\?"="S", "Colors\?"="Red, Blue"\./,
    ],
    [
      'a list of labels',
      { answers: { 'Colors?': ['Red', 'Blue'] } },
      /^Your questions have been answered: "Colors\?"="Red,Blue"\./,
    ],
    ['some answers', { answers: { 'Size?': 'L' } }, /^Your questions have been answered: "Size\?"="L"\./],
    [
      'own words',
      { answers: { 'Size?': 'XXL' } },
      /^The user answered: "Size\?"="XXL"\. Read the answers carefully/,
    ],
    ['several labels for one choice', { answers: { 'Size?': 'S, L' } }, /^The user answered: /],
    [
      'annotations',
      { answers: { 'Size?': 'S' }, annotations: { 'Size?': { preview: 'P', notes: 'N' } } },
      /^The user answered: "Size\?"="S" selected preview:\nP notes: N\./,
    ],
    [
      'a response',
      { answers: { 'Size?': 'S' }, response: 'let us talk' },
      /^The user responded: let us talk$/,
    ],
    ['nothing', {}, /^The user did not answer the questions\.$/],
    [
      'an answer to another question',
      { answers: { 'Other?': 'S' } },
      /^The user did not answer the questions\.$/,
    ],
    ['names of object members', { answers: JSON.parse('{"__proto__":"S"}') }, /^The user did not answer/],
  ])('%s', async (_, given, expected) => {
    const input = { questions: QUESTIONS, ...given };
    const { content, programResult } = await call(ASK_USER_QUESTION, input, worldIn(directoryWith()));
    expect(content).toMatch(expected);
    expect(programResult).toEqual({ questions: QUESTIONS, answers: {}, ...given });
  });
});

async function asked(input: object, answer: (input: Record<string, unknown>) => PermissionResult) {
  const questions: Record<string, unknown>[] = [];
  const { query } = drive(
    [toolUse('AskUserQuestion', input), text('done')],
    {
      canUseTool: async (_, given) => {
        questions.push(given);
        return answer(given);
      },
    },
    {
      builtIns: ['AskUserQuestion'],
      rules: [{ tool: 'AskUserQuestion', effect: 'allow', source: 'cliArg' }],
      mayBypass: true,
      permissionMode: 'bypassPermissions',
    },
  );
  const messages = await untilResult(query);
  return { questions, result: messages.findLast((it) => it.type === 'user')?.tool_use_result };
}

const allow = (updatedInput: Record<string, unknown>): PermissionResult => ({
  behavior: 'allow',
  updatedInput,
});

test('the user is always asked, whatever rules and modes allow', async () => {
  const { questions, result } = await asked({ questions: QUESTIONS }, (input) =>
    allow({ ...input, answers: { 'Size?': 'S' } }),
  );
  expect(questions).toEqual([{ questions: QUESTIONS }]);
  expect(result).toEqual({ questions: QUESTIONS, answers: { 'Size?': 'S' } });
});

test('answers that the model writes itself do not count', async () => {
  const own = { answers: { 'Size?': 'S' }, annotations: { 'Size?': {} }, response: 'yes' };
  const { questions, result } = await asked({ questions: QUESTIONS, ...own }, allow);
  expect(questions).toEqual([{ questions: QUESTIONS }]);
  expect(result).toEqual({ questions: QUESTIONS, answers: {} });
});

test.each<[string, unknown]>([
  ['no question', []],
  ['five questions', Array.from({ length: 5 }, (_, at) => question(`q${at}`, false, 'a', 'b'))],
  ['one option', [question('q', false, 'a')]],
  ['five options', [question('q', false, 'a', 'b', 'c', 'd', 'e')]],
  ['the same question twice', [question('q', false, 'a', 'b'), question('q', false, 'c', 'd')]],
  ['the same label twice', [question('q', false, 'a', 'a')]],
])('the user is not asked %s', async (_, questions) => {
  const outcome = await asked({ questions }, allow);
  expect(outcome.questions).toEqual([]);
  expect(outcome.result).toMatch(/InputValidationError: AskUserQuestion failed/);
});
