import { expect, test } from 'vitest';
import {
  type ActionKind,
  actionFactors,
  actionKindOf,
  requestedActions,
} from '../../../src/pool/search/action-kind.ts';

test.each<[string, ActionKind | undefined]>([
  ['create_issue', 'make'],
  ['linear_getWorkflowStates', 'read'],
  ['delete-file', 'remove'],
  ['listDeletedUsers', 'read'],
  ['renames', 'change'],
  ['perplexity_ask', undefined],
])('%s does: %s', (name, act) => {
  expect(actionKindOf(name)).toBe(act);
});

function term(word: string, closeness = 1) {
  return { weight: 1, options: new Map([[word, closeness]]) };
}

test.each([
  ['which issues are open?', true],
  ['这个地方在哪里？', true],
  ['how far is it', true],
  ['could you file a bug?', false],
  ['show me the way', false],
])('%s is a question: %s', (text, isQuestion) => {
  expect(requestedActions(text, [])).toMatchObject({ isQuestion, acts: { read: isQuestion ? 1 : 0 } });
});

test('a tool of another kind loses, the more the surer the kind is; who says nothing of it loses nothing', () => {
  const asked = requestedActions('delete', [term('delet'), term('edit', 0.6)]);
  expect(asked.acts).toEqual({ make: 0, remove: 1, change: 0.6, read: 0 });
  expect(actionFactors(asked)).toEqual({ make: 0.85, remove: 1, change: 0.94, read: 0.85 });
  expect(actionFactors(requestedActions('zebra', []))).toEqual({ make: 1, remove: 1, change: 1, read: 1 });
  expect(actionFactors(requestedActions('zebra?', []))).toMatchObject({
    make: expect.closeTo(0.67),
    read: 1,
  });
});
