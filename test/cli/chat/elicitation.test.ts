import { expect, test } from 'vitest';
import { askElicitation } from '../../../src/cli/chat/elicitation.ts';
import { answering } from './asked.ts';

const form = {
  serverName: 'crm',
  message: 'Who is it?',
  mode: 'form' as const,
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' }, note: { type: 'string' } },
    required: ['name'],
  },
};

test('fields are asked one by one until each is right; what is left out is not sent', async () => {
  const person = answering('', 'Ada', 'old', '36', '');
  expect(await askElicitation(form, person)).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } });
  expect(person.shown).toEqual([
    '? Server crm asks: Who is it?',
    '  Answers go to crm. Ctrl-C cancels, /decline refuses, /mute refuses all its questions in this session.',
    '  A line that begins with / is a command; begin an answer with // for a slash.',
    '  name (string; required): ',
    '  it is required',
    '  name (string; required): ',
    '  age (integer; may be empty): ',
    '  it must be a whole number',
    '  age (integer; may be empty): ',
    '  note (string; may be empty): ',
  ]);
});

test.each([
  ['/decline', 'decline'],
  ['interrupted', 'cancel'],
  ['ended', 'cancel'],
  ['withdrawn', 'cancel'],
])('%s in the middle is %s, and nothing of it is sent', async (answer, action) => {
  expect(await askElicitation(form, answering('Ada', answer))).toEqual({ action });
});

test('/mute ends the form, and says that no other is wanted', async () => {
  expect(await askElicitation(form, answering('Ada', '/mute'))).toBe('mute');
});

test.each([
  [['y'], 'accept'],
  [['perhaps', 'no'], 'decline'],
  [['interrupted'], 'cancel'],
])('an address is shown, and %j is %s', async (answers, action) => {
  const person = answering(...answers);
  const request = {
    serverName: 'crm',
    message: 'Log in',
    mode: 'url' as const,
    url: 'https://crm.example/login',
  };
  expect(await askElicitation(request, person)).toEqual({ action });
  expect(person.shown).toContain('  https://crm.example/login');
});
