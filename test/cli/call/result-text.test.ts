import { expect, test } from 'vitest';
import { resultParts } from '../../../src/cli/call/result-text.ts';
import { partsText } from '../../../src/cli/host/content-parts.ts';

const text = (it: string) => ({ type: 'text' as const, text: it });

test.each([
  ['text', { content: [text('a')], structuredContent: { b: 1 } }, 'a\n'],
  ['no text', { content: [], structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
  ['a text that says nothing', { content: [text(' ')], structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
  ['no content at all', { structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
  ['nothing', { content: [] }, ''],
])('the structured form is shown only where there is no text: %s', (_, result, shown) => {
  expect(partsText(resultParts(result as never))).toBe(shown);
});

test.each<[string, unknown, string]>([
  ['no content', { foo: 'bar', toolResult: 42 }, '{"foo":"bar","toolResult":42}'],
  ['content that is a text', { content: 'hello' }, 'hello'],
  ['one block without its list', { content: text('hello') }, 'hello'],
  ['no object', 42, '42'],
  [
    'content of no known form beside a structured form',
    { content: [{ type: 'x', y: 1 }], structuredContent: { b: 1 } },
    '{"type":"x","y":1}\n{\n  "b": 1\n}',
  ],
])('nothing is lost of a result with %s', (_, result, shown) => {
  expect(partsText(resultParts(result as never))).toContain(`${shown}\n`);
});
