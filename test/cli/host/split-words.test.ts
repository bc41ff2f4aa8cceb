import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitWords } from '../../../src/cli/host/split-words.ts';

test.each([
  ['', []],
  ['  ', []],
  ['node server.js', ['node', 'server.js']],
  ['  a\tb \n c ', ['a', 'b', 'c']],
  [`node "my server.js" 'it is'`, ['node', 'my server.js', 'it is']],
  [`--name="a b"c`, ['--name=a bc']],
  [`"" ''`, ['', '']],
  [String.raw`"say \"hi\" \\ \n"`, [String.raw`say "hi" \ \n`]],
  [String.raw`'no \ escape'`, [String.raw`no \ escape`]],
  [String.raw`a\ b`, ['a b']],
  [String.raw`C:\Tools\node.exe`, [String.raw`C:\Tools\node.exe`]],
])('%j is split as a shell does', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test.each([`"`, `a 'b`])('%s: a quote that is not closed is told', (line) => {
  expect(splitWords(line)).toEqual({ fault: expect.stringContaining('is not closed') });
});

test('words in single quotes come back as they are, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.string().filter((it) => !it.includes("'"))), (words) => {
      expect(splitWords(words.map((word) => `'${word}'`).join(' '))).toEqual(words);
    }),
  );
});
