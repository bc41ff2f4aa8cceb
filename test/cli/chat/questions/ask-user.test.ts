import { describe, expect, test } from 'vitest';
import { parseChoice, userDialogue } from '../../../../src/cli/chat/questions/ask-user.ts';
import { answering } from '../support/asked.ts';

const SIZE = {
  question: 'Which size?',
  header: 'Size',
  options: [
    { label: 'S', description: 'small' },
    { label: 'L', description: 'large' },
  ],
};
const COLORS = {
  question: 'Which colors?',
  header: 'Colors',
  multiSelect: true,
  options: ['Red', 'Blue', 'Green'].map((label) => ({ label, description: '' })),
};

async function answered(tool: string, input: Record<string, unknown>, ...typed: string[]) {
  const person = answering(...typed);
  const context = { toolUseID: 't1', requestId: 'r1' };
  const dialogue = userDialogue({ tool, input, context, annotations: [] });
  const answer = await dialogue?.(person);
  return { result: answer?.result, shown: person.shown.join('\n') };
}

test('other tools have no dialogue of their own', () => {
  const context = { toolUseID: 't1', requestId: 'r1' };
  expect(userDialogue({ tool: 'Bash', input: {}, context, annotations: [] })).toBeUndefined();
});

describe('questions', () => {
  const input = { questions: [SIZE, COLORS] };

  test('are shown with their options, and the answers become part of the input', async () => {
    const { result, shown } = await answered('AskUserQuestion', input, '2', '1, 3');
    const answers = { 'Which size?': 'L', 'Which colors?': 'Red, Green' };
    expect(result).toEqual({ behavior: 'allow', updatedInput: { ...input, answers } });
    for (const text of ['Which size?', '1 S  small', '2 L  large', '3 Green']) expect(shown).toContain(text);
  });

  test('can be answered in own words or skipped', async () => {
    const { result } = await answered('AskUserQuestion', input, 'whatever fits', '');
    expect(result).toMatchObject({ updatedInput: { answers: { 'Which size?': 'whatever fits' } } });
  });

  test('are denied if the input ends', async () => {
    const { result } = await answered('AskUserQuestion', input, '1', 'ended');
    expect(result).toMatchObject({ behavior: 'deny' });
  });

  const options = COLORS.options;
  test.each([
    [' 2 ', false, 'Blue'],
    ['4', false, '4'],
    ['0', false, '0'],
    ['1,2', false, '1,2'],
    ['1,2', true, 'Red, Blue'],
    ['3 1 3', true, 'Green, Red'],
    ['1 and 2', true, '1 and 2'],
    ['', true, ''],
  ])('%j with several options allowed: %s', (typed, isMulti, expected) => {
    expect(parseChoice(typed, { question: 'q', options, isMulti })).toBe(expected);
  });

  const twelve = Array.from({ length: 12 }, (_, at) => ({ label: `L${at + 1}`, description: '' }));
  test.each([
    ['10', false, 'L10'],
    ['12', true, 'L12'],
    ['2, 11 1', true, 'L2, L11, L1'],
    ['13', false, '13'],
    ['010', false, '010'],
    ['2026', false, '2026'],
  ])('%j with twelve options, several allowed: %s', (typed, isMulti, expected) => {
    expect(parseChoice(typed, { question: 'q', options: twelve, isMulti })).toBe(expected);
  });
});

describe('a plan', () => {
  const input = { plan: '# Plan\n1. do it\n', planFilePath: '/plans/a.md' };
  test.each([
    [['y'], { behavior: 'allow' }],
    [['?', 'Yes'], { behavior: 'allow' }],
    [
      ['e'],
      {
        behavior: 'allow',
        updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
      },
    ],
    [['n use a table'], { behavior: 'deny', message: 'use a table' }],
    [['n'], { behavior: 'deny', message: 'The user wants to keep planning.' }],
    [['ended'], { behavior: 'deny', message: 'The user wants to keep planning.' }],
  ])('is shown; the answer %j', async (typed, expected) => {
    const { result, shown } = await answered('ExitPlanMode', input, ...typed);
    expect(result).toEqual(expected);
    for (const text of ['# Plan', '1. do it', 'file: /plans/a.md']) expect(shown).toContain(text);
  });

  test('an answer that is not one of the choices is named before they are repeated', async () => {
    const { shown } = await answered('ExitPlanMode', input, 'sure', 'y');
    expect(shown).toContain('approve? \n  "sure" was not understood.\n  y yes');
  });
});
