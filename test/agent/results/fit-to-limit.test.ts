import { describe, expect, test } from 'vitest';
import { fitToLimit } from '../../../src/agent/results/fit-to-limit.ts';
import type { ModelImage, Piece } from '../../../src/agent/results/pieces.ts';

import { FULL, memoryStore, saved, sourceWith } from './sources.ts';

const text = (it: string, label?: string): Piece => ({ kind: 'text', text: it, ...(label && { label }) });
const image = (name: string, size = 4): Piece & { image: ModelImage } => ({
  kind: 'image',
  image: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(size) } },
  saved: { path: `/${name}.png` },
});
const block = (it: unknown) => ({ type: 'text', text: it });
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n');

describe('texts', () => {
  test('results within the limit are unchanged, and nothing is saved', async () => {
    const store = memoryStore();
    const source = sourceWith({ store, maxTokens: 10 });
    expect(await fitToLimit([text('x'.repeat(20)), text('y'.repeat(20))], source)).toEqual([
      block('x'.repeat(20)),
      block('y'.repeat(20)),
    ]);
    expect(store.files.size).toBe(0);
  });

  test('a result beyond the limit is saved to a file; the model receives the path and both ends', async () => {
    const store = memoryStore();
    const whole = lines(5_000);
    const [told, ...others] = await fitToLimit([text(whole)], sourceWith({ store, maxTokens: 1_000 }));
    expect(others).toEqual([]);
    expect(told).toEqual(
      block(
        expect.stringMatching(
          /^The result has 48,892 characters in 5,000 lines, about 12,223 tokens, and the limit per result is 1,000 tokens\. It is saved in \/saved\/1\.txt: read it in parts with Read \(offset and limit\), or search it with Grep\. The beginning and end are:\nline 1\nline 2\n.*\[… 46,892 characters omitted …\].*line 5000$/s,
        ),
      ),
    );
    expect(saved(store, '/saved/1.txt')).toBe(whole);
  });

  test('a tool can set a higher limit', async () => {
    const meta = { 'anthropic/maxResultSizeChars': 400_000 };
    const whole = 'x'.repeat(400_000);
    expect(await fitToLimit([text(whole)], sourceWith({}, meta))).toEqual([block(whole)]);
    const [told] = await fitToLimit([text(`${whole}y`)], sourceWith({}, meta));
    expect(told).toEqual(
      block(
        expect.stringMatching(
          /^The result has 400,001 characters in 1 line, and the limit per result is 400,000 characters\. /,
        ),
      ),
    );
  });

  test('as few texts as possible are moved, the largest first; the others keep their places', async () => {
    const store = memoryStore();
    const big = 'b'.repeat(5_000);
    const pieces = [text('first'), text(big, '[Big]'), text('m'.repeat(1_000)), text('last')];
    expect(await fitToLimit(pieces, sourceWith({ store, maxTokens: 1_000 }))).toEqual([
      block('first'),
      block(expect.stringMatching(/^\[Big\] A part of the result has 5,000 characters/)),
      block('m'.repeat(1_000)),
      block('last'),
    ]);
    expect(saved(store, '/saved/1.txt')).toBe(big);
  });

  test('many small texts are moved from the end to one file, each with its label', async () => {
    const store = memoryStore();
    const pieces = Array.from({ length: 100 }, (_, at) => text(`${at} `.padEnd(100, '.'), `[${at}]`));
    const blocks = await fitToLimit(pieces, sourceWith({ store, maxTokens: 1_000 }));
    expect(blocks.length).toBeGreaterThan(10);
    expect(blocks.length).toBeLessThan(40);
    expect(blocks[0]).toEqual(block(`[0] ${'0 '.padEnd(100, '.')}`));
    expect(blocks.at(-1)).toEqual(
      block(expect.stringMatching(/^A part of the result \(several texts\) has/)),
    );
    const file = saved(store, '/saved/1.txt').split('\n');
    expect(file).toHaveLength(100 - (blocks.length - 1));
    expect(file.at(-1)).toBe(`[99] ${'99 '.padEnd(100, '.')}`);
  });

  test('moved texts always have a summary, even if the rest nearly fills the limit', async () => {
    const pieces = [text('a'.repeat(3_960)), text('b'.repeat(3_964))];
    const blocks = await fitToLimit(pieces, sourceWith({ maxTokens: 1_000 }));
    expect(blocks).toEqual([
      block(expect.stringMatching(/^The result has 7,925 .*\na{1500}\n\[… .*\nb{500}$/s)),
    ]);
  });

  test('a text that is too long for one file is split', async () => {
    const store = memoryStore();
    const whole = `${'x'.repeat(9_999_999)}\n${'y'.repeat(100)}`;
    const [told] = await fitToLimit([text(whole)], sourceWith({ store }));
    expect(told).toEqual(block(expect.stringContaining('It is saved in /saved/1.txt, then /saved/2.txt: ')));
    expect([...store.files.values()].join('') === whole).toBe(true);
  });

  test.each([
    ['x'.repeat(2_000), 'offset and limit'],
    ['x'.repeat(2_001), 'offset, limit and, for long lines, column'],
  ])('the instructions for reading the file fit the length of its lines', async (line, parts) => {
    for (const whole of [
      `${line}\n${lines(500)}`,
      `${lines(500)}\n${line}`,
      `${lines(250)}\n${line}\n${line}\n`,
    ]) {
      const [told] = await fitToLimit([text(whole)], sourceWith({ maxTokens: 1_000 }));
      expect(told).toEqual(block(expect.stringContaining(`with Read (${parts}), or search it with Grep.`)));
    }
  });

  test('JSON on one line is indented in the file, so that it can be read in parts', async () => {
    const store = memoryStore();
    const value = { rows: Array.from({ length: 3_000 }, (_, id) => ({ id })), total: 1.5 };
    const [told] = await fitToLimit([text(JSON.stringify(value))], sourceWith({ store, maxTokens: 1_000 }));
    const file = saved(store, '/saved/1.txt');
    expect(JSON.parse(file)).toEqual(value);
    expect(file.split('\n')).toHaveLength(9_005);
    expect(told).toEqual(block(expect.stringContaining('in 9,005 lines')));
  });

  test('a NUL character does not make the file binary', async () => {
    const store = memoryStore();
    await fitToLimit([text(`\0${'x'.repeat(5_000)}`)], sourceWith({ store, maxTokens: 1_000 }));
    expect(saved(store, '/saved/1.txt')).toBe(`\u2400${'x'.repeat(5_000)}`);
  });
});

describe('without a file', () => {
  const whole = `begin ${'x'.repeat(9_988)} end`;

  test.each([
    ['a session without Read', { canUse: (tool: string) => tool !== 'Read' }, ''],
    ['a setting', { hasFiles: false }, ''],
    ['rules that forbid reading it', { mayRead: () => false }, ''],
    [
      'a full disk',
      { store: FULL },
      '; the complete text could not be saved: ENOSPC: no space left on device, write',
    ],
  ])('%s: the text is truncated in place, with a note', async (_, parts, ending) => {
    const [told, ...others] = await fitToLimit(
      [text(whole, '[Doc]')],
      sourceWith({ maxTokens: 1_000, ...parts }),
    );
    expect(others).toEqual([]);
    const said = (told as { text: string }).text;
    expect(said).toMatch(/^\[Doc\] begin x+\n\[5,998 characters omitted: the result has 9,998 characters/);
    expect(said).toContain(
      `the limit per result is 1,000 tokens${ending}. To see the omitted characters, request less data per call.]\nx`,
    );
    expect(said).toMatch(/x end$/);
  });

  test('the texts that stay count toward the limit', async () => {
    const pieces = [text('y'.repeat(2_000)), text(whole)];
    const source = sourceWith({ maxTokens: 1_000, hasFiles: false });
    const blocks = (await fitToLimit(pieces, source)) as { text: string }[];
    expect(blocks[0]?.text).toBe('y'.repeat(2_000));
    expect(blocks[1]?.text.length).toBeLessThan(2_400);
    expect(blocks[1]?.text.length).toBeGreaterThan(2_000);
  });
});

describe('images', () => {
  const named = (name: string) => block(`[Image: source: /${name}.png]`);

  test('images within the limit are shown, the others are replaced by their paths', async () => {
    const [a, b, c] = [image('a'), image('b'), image('c')];
    expect(await fitToLimit([a, text('t'), b, c], sourceWith({ maxTokens: 3_300 }))).toEqual([
      a.image,
      named('a'),
      block('t'),
      b.image,
      named('b'),
      block('[Image: source: /c.png] Not shown: the result has too many images.'),
    ]);
  });

  test('the first image is always shown', async () => {
    const one = image('a');
    expect(await fitToLimit([one], sourceWith({ maxTokens: 100 }))).toEqual([one.image, named('a')]);
  });

  test('a long text beside an image is moved, the image stays', async () => {
    const one = image('a');
    const blocks = await fitToLimit([text('x'.repeat(9_000)), one], sourceWith({ maxTokens: 2_000 }));
    expect(blocks).toEqual([
      block(expect.stringMatching(/^A part of the result has 9,000/)),
      one.image,
      named('a'),
    ]);
  });

  test('at most twenty images, and not more data than a request accepts', async () => {
    const shown = async (pieces: Piece[]) =>
      (await fitToLimit(pieces, sourceWith({ maxTokens: 1_000_000 }))).filter(({ type }) => type === 'image')
        .length;
    expect(await shown(Array.from({ length: 30 }, (_, at) => image(`${at}`)))).toBe(20);
    expect(await shown(Array.from({ length: 5 }, (_, at) => image(`${at}`, 4_000_000)))).toBe(2);
  });

  test('the paths of thousands of images are limited like any text', async () => {
    const store = memoryStore();
    const pieces = Array.from({ length: 5_000 }, (_, at) => image(`${at}`));
    const blocks = await fitToLimit(pieces, sourceWith({ store, maxTokens: 2_000 }));
    expect(JSON.stringify(blocks).length).toBeLessThan(12_000);
    expect(saved(store, '/saved/1.txt')).toContain('/4999.png');
  });
});
