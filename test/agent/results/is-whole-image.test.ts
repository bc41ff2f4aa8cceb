import { expect, test } from 'vitest';
import { view } from '../../../src/agent/results/view.ts';
import { PNG } from './sources.ts';

/** The jpeg has two scans, with a table between them and an escaped `ff` in the first. */
const IMAGES = {
  png: PNG,
  jpeg: Buffer.from(
    'ffd8ffe000040000ffc2000b080002000201011100ffda000801010000000012ff0034ffc400040101ffda0008010100013f0056ffd9',
    'hex',
  ),
  webp: Buffer.from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=', 'base64'),
  gif: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};

test.each(Object.entries(IMAGES))(
  'a %s is shown when it is whole, and none of its beginnings is',
  (name, whole) => {
    expect(view(whole)).toEqual({ kind: 'image', type: `image/${name}` });
    const shown = whole
      .subarray(0, -1)
      .findIndex((_, end) => view(whole.subarray(0, end + 1)).kind === 'image');
    expect(shown).toBe(-1);
    expect(view(whole.subarray(0, -1))).toEqual({ kind: 'cut-off', type: `image/${name}` });
  },
);

test.each(Object.entries(IMAGES))('bytes after the end of a %s do no harm', (_, whole) => {
  expect(view(Buffer.concat([whole, Buffer.from('\r\n and more')])).kind).toBe('image');
});

test('the end of a small picture in the head of a jpeg is not the end of the large one', () => {
  const { jpeg } = IMAGES;
  const head = Buffer.from([0xff, 0xe1, 0, 2 + jpeg.length]);
  const whole = Buffer.concat([jpeg.subarray(0, 2), head, jpeg, jpeg.subarray(2)]);
  expect(view(whole).kind).toBe('image');
  expect(view(whole.subarray(0, -2)).kind).toBe('cut-off');
});

test.each<[string, Buffer]>([
  ['a png whose chunk is longer than the file', Buffer.from(PNG).fill(0x7f, 33, 37)],
  ['a webp that says it has no length', Buffer.from(IMAGES.webp).fill(0, 4, 8)],
  ['a webp whose chunk is longer than itself', Buffer.from(IMAGES.webp).fill(0x7f, 16, 20)],
  ['a gif with a block of no known kind', Buffer.from(IMAGES.gif).fill(0x55, 19, 20)],
])('%s is cut off', (_, bytes) => {
  expect(view(bytes).kind).toBe('cut-off');
});
