import { expect, test } from 'vitest';
import { view } from '../../../src/agent/results/view.ts';
import { PNG } from './sources.ts';

/** An image of that size, as far as anybody looks. */
const IMAGES = {
  png: (width: number, height: number) => {
    const bytes = Buffer.from(PNG);
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  },
  gif: (width: number, height: number) => {
    const bytes = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(7), Buffer.from(';')]);
    bytes.writeUInt16LE(width, 6);
    bytes.writeUInt16LE(height, 8);
    return bytes;
  },
  jpeg: (width: number, height: number) => {
    const frame = Buffer.from([0xff, 0xc2, 0, 11, 8, 0, 0, 0, 0, 1, 0, 0, 0]);
    frame.writeUInt16BE(height, 5);
    frame.writeUInt16BE(width, 7);
    const table = Buffer.from([0xff, 0xc4, 0, 4, 1, 1]);
    const scan = Buffer.from([0xff, 0xda, 0, 2, 0xff, 0xd9]);
    return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff]), table, frame, scan]);
  },
  'webp, lossy': (width: number, height: number) => {
    const bytes = webp('VP8 ');
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
    return bytes;
  },
  'webp, lossless': (width: number, height: number) => {
    const bytes = webp('VP8L');
    bytes.writeUInt32LE(((height - 1) << 14) | (width - 1), 21);
    return bytes;
  },
  'webp, extended': (width: number, height: number) => {
    const bytes = webp('VP8X');
    bytes.writeUIntLE(width - 1, 24, 3);
    bytes.writeUIntLE(height - 1, 27, 3);
    return bytes;
  },
};

function webp(chunk: string): Buffer {
  return Buffer.concat([Buffer.from(`RIFF\x1a\0\0\0WEBP${chunk}\x0a\0\0\0`, 'latin1'), Buffer.alloc(14)]);
}

test.each(Object.entries(IMAGES))('%s: shown up to 8000 pixels on a side', (name, make) => {
  const type = `image/${name.split(',')[0]}`;
  expect(view(make(8_000, 3))).toEqual({ kind: 'image', type });
  expect(view(make(3, 8_001))).toEqual({
    kind: 'too-large',
    type,
    why: '3 × 8001 pixels, more than 8000 on a side',
  });
});

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['a text', Buffer.from('PNG is a format')],
  ['the beginning of a png', PNG.subarray(0, 20)],
  ['a png without a width', IMAGES.png(0, 5)],
  ['the beginning of a jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
  ['a jpeg that loses its way', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7])],
  ['a webp of another kind', webp('JUNK')],
])('%s is nothing to look at', (_, bytes) => {
  expect(view(bytes)).toEqual({ kind: 'none' });
});

test('more bytes than a model takes are too many', () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(3_750_001 - PNG.length)]);
  expect(view(bytes.subarray(0, 3_750_000)).kind).toBe('image');
  expect(view(bytes)).toEqual({
    kind: 'too-large',
    type: 'image/png',
    why: '3750001 bytes, more than 3750000',
  });
});
