import { expect, test } from 'vitest';
import { limitResult, resultLimit } from '../../../src/host/result/limit.ts';

const kept: string[] = [];
const save = async (data: string, mimeType: string) => {
  kept.push(`${mimeType} ${Buffer.from(data, 'base64').toString()}`);
  return '/kept.txt';
};
const picture = {
  type: 'image' as const,
  source: { type: 'base64' as const, media_type: 'image/png', data: '' },
};

test('what fits passes as it is', async () => {
  const result = { content: 'x'.repeat(10), isError: false };
  expect(await limitResult(result, 10, save)).toBe(result);
});

test('what does not is kept whole in a file, and the model is told where and how it begins', async () => {
  const content = [
    { type: 'text' as const, text: 'é'.repeat(6) },
    picture,
    { type: 'text' as const, text: 'end' },
  ];
  const { content: told, isError } = await limitResult({ content, isError: true } as never, 8, save);
  expect(told).toEqual([
    {
      type: 'text',
      text: expect.stringMatching(
        /^The result has 10 characters, more than the 8 .*\/kept\.txt: .*\néééééé\nend$/s,
      ),
    },
    picture,
  ]);
  expect(isError).toBe(true);
  expect(kept).toEqual(['text/plain éééééé\nend']);
});

test.each([
  [undefined, 100_000],
  [{}, 100_000],
  [{ 'anthropic/maxResultSizeChars': 400_000 }, 400_000],
  [{ 'anthropic/maxResultSizeChars': 4_000_000 }, 500_000],
  [{ 'anthropic/maxResultSizeChars': 'many' }, 100_000],
  [{ 'anthropic/maxResultSizeChars': -1 }, 100_000],
])('a tool with %j may give %d characters', (meta, most) => {
  expect(resultLimit(meta)).toBe(most);
});
