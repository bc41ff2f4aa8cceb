import { expect, test } from 'vitest';
import { exitMeaning, isSilent } from '../../../../src/agent/builtins/shell/exit-meaning.ts';

test.each<[string, string | undefined]>([
  ['grep x a.txt', 'No matches found'],
  ['cat a.txt | rg x', 'No matches found'],
  ['cd d && grep "a; b" c', 'No matches found'],
  ['diff a b', 'Files differ'],
  ['git diff --exit-code', 'Files differ'],
  ['[ -f a ]', 'Condition is false'],
  ['test -f a && echo b', undefined],
  ['grep x a || false', undefined],
  ['git log', undefined],
  ['false', undefined],
])('%s with exit code 1: %s', (command, meaning) => {
  expect(exitMeaning(command, 1)).toBe(meaning);
  expect(exitMeaning(command, 2)).toBeUndefined();
});

test.each<[string, boolean]>([
  ['touch a', true],
  ['mkdir "a b" && cp a b', true],
  ['touch a > b', true],
  ['touch a; echo b', false],
  ['touch a || true', false],
  ['', false],
])('%s prints nothing: %s', (command, expected) => expect(isSilent(command)).toBe(expected));
