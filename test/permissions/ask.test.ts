import { expect, test } from 'vitest';
import { type Asker, askPeople, type Question } from '../../src/permissions/ask.ts';
import type { PermissionUpdate } from '../../src/protocol/permission.ts';
import { mcpCall, rule } from './situation.ts';

const question: Question = {
  call: mcpCall('s', 't'),
  toolUseId: 'toolu_1',
  reason: { text: 'why' },
  suggestions: [],
};
const live = () => new AbortController().signal;
const answering = (name: string, answer: unknown): Asker => ({ name, ask: async () => answer });
const failing = (name: string): Asker => ({
  name,
  ask: () => {
    throw new Error(`${name} broke`);
  },
});

/** An asker that never answers; `stopped` resolves when its signal aborts. */
function silent(name: string): Asker & { stopped: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>();
  const ask: Asker['ask'] = (_, signal) =>
    new Promise(() => signal.addEventListener('abort', () => resolve(name), { once: true }));
  return { name, ask, stopped: promise };
}

test('the first valid answer wins and the other askers are aborted', async () => {
  const [terminal, channel] = [silent('terminal'), silent('channel')];
  const askers = [
    terminal,
    answering('can_use_tool', { behavior: 'allow', updatedInput: { a: 1 } }),
    channel,
  ];
  expect(await askPeople(askers, question, live())).toEqual({
    result: { behavior: 'allow', updatedInput: { a: 1 } },
    from: 'can_use_tool',
    failures: [],
  });
  expect(await Promise.all([terminal.stopped, channel.stopped])).toEqual(['terminal', 'channel']);
});

test('a later answer changes nothing', async () => {
  const late = Promise.withResolvers<unknown>();
  const askers = [
    { name: 'late', ask: () => late.promise },
    answering('now', { behavior: 'deny', message: 'no' }),
  ];
  const { result, from } = await askPeople(askers, question, live());
  late.resolve({ behavior: 'allow' });
  await late.promise;
  expect({ result, from }).toEqual({ result: { behavior: 'deny', message: 'no' }, from: 'now' });
});

test.each([
  ['nothing', undefined],
  ['a text', 'yes'],
  ['no behaviour', {}],
  ['input that is none', { behavior: 'allow', updatedInput: [] }],
  ['updates that are none', { behavior: 'allow', updatedPermissions: [{ type: 'addRules' }] }],
])('%s is not an answer', async (_, answer) => {
  const askers = [
    answering('odd', answer),
    failing('broken'),
    answering('slow', { behavior: 'deny', message: 'no' }),
  ];
  const answered = await askPeople(askers, question, live());
  expect(answered).toMatchObject({ result: { behavior: 'deny', message: 'no' }, from: 'slow' });
  const alone = await askPeople([answering('odd', answer), failing('broken')], question, live());
  expect(alone.result.behavior).toBe('deny');
  expect(alone.from).toBeUndefined();
  expect(alone.failures.map(({ asker }) => asker).sort()).toEqual(['broken', 'odd']);
});

test('a denial without a message is a denial', async () => {
  const message = 'The call was denied without a message';
  for (const given of [undefined, null, 5]) {
    const answer = { behavior: 'deny', message: given, interrupt: true };
    const { result, from } = await askPeople([answering('silent', answer)], question, live());
    expect({ result, from }).toEqual({
      result: { behavior: 'deny', message, interrupt: true },
      from: 'silent',
    });
  }
});

const rules = (...contents: string[]): PermissionUpdate => ({
  type: 'addRules',
  rules: contents.map((ruleContent) => ({ toolName: 'Read', ruleContent })),
  behavior: 'allow',
  destination: 'session',
});

test.each([
  ['a rule', { suggestions: [rules('//a')] }, '; the rule "Read(//a)" would allow the call'],
  [
    'two',
    { suggestions: [rules('//a', '//b')] },
    '; the rule "Read(//a)" and the rule "Read(//b)" would allow the call',
  ],
  [
    'a mode',
    { suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }] },
    '; mode acceptEdits would allow the call',
  ],
  ['nothing', { suggestions: [] }, ''],
  [
    'nothing, for a rule asks',
    { suggestions: [rules('//a')], reason: { rule: rule('Read', 'ask'), text: 'ask rule "Read"' } },
    '; ask rule "Read"',
  ],
] satisfies [string, Partial<Question>, string][])(
  'without an asker the call is denied, with what would allow it: %s',
  async (_, changes, advice) => {
    const message = `Permission required, but there is no user or callback to ask${advice}.`;
    expect(await askPeople([], { ...question, ...changes }, live())).toEqual({
      result: { behavior: 'deny', message },
      failures: [],
    });
  },
);

test('an abort denies the call and aborts every asker', async () => {
  const asker = silent('terminal');
  const controller = new AbortController();
  const answered = askPeople([asker], question, controller.signal);
  controller.abort();
  expect((await answered).result.behavior).toBe('deny');
  expect(await asker.stopped).toBe('terminal');
});

test('after an abort no asker is called', async () => {
  let asked = false;
  const asker = { name: 'a', ask: async () => (asked = true) };
  expect((await askPeople([asker], question, AbortSignal.abort())).result.behavior).toBe('deny');
  expect(asked).toBe(false);
});

test('keeps only the members of a decision, including updates', async () => {
  const update = { type: 'setMode', mode: 'plan', destination: 'session' };
  const answer = { behavior: 'allow', updatedInput: null, updatedPermissions: [update], extra: 1 };
  const { result } = await askPeople([answering('a', answer)], question, live());
  expect(result).toEqual({ behavior: 'allow', updatedPermissions: [update] });
});

test('an empty updatedInput is left out, so that the call keeps its input', async () => {
  const asker = answering('a', { behavior: 'allow', updatedInput: {} });
  expect((await askPeople([asker], question, live())).result).toEqual({ behavior: 'allow' });
});
