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
