import { describe, expect, test } from 'vitest';
import { checkImage } from '../../../src/agent/results/image-format.ts';
import { PNG } from './sources.ts';

describe('checkImage', () => {
  /** A minimal image of that size. */
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
    expect(checkImage(make(8_000, 3))).toEqual({ kind: 'image', type });
    expect(checkImage(make(3, 8_001))).toEqual({
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
    [
      'a jpeg with an invalid segment',
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]),
    ],
    ['a webp of another kind', webp('JUNK')],
  ])('%s is not an image', (_, bytes) => {
    expect(checkImage(bytes)).toEqual({ kind: 'none' });
  });

  test('an image with more bytes than the limit is too large', () => {
    const bytes = Buffer.concat([PNG, Buffer.alloc(3_750_001 - PNG.length)]);
    expect(checkImage(bytes.subarray(0, 3_750_000)).kind).toBe('image');
    expect(checkImage(bytes)).toEqual({
      kind: 'too-large',
      type: 'image/png',
      why: '3750001 bytes, more than 3750000',
    });
  });
});

describe('truncated images', () => {
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
    'a complete %s is accepted, and every truncated one is rejected',
    (name, whole) => {
      expect(checkImage(whole)).toEqual({ kind: 'image', type: `image/${name}` });
      const shown = whole
        .subarray(0, -1)
        .findIndex((_, end) => checkImage(whole.subarray(0, end + 1)).kind === 'image');
      expect(shown).toBe(-1);
      expect(checkImage(whole.subarray(0, -1))).toEqual({ kind: 'truncated', type: `image/${name}` });
    },
  );

  test.each(Object.entries(IMAGES))('bytes after the end of a %s are allowed', (_, whole) => {
    expect(checkImage(Buffer.concat([whole, Buffer.from('\r\n and more')])).kind).toBe('image');
  });

  test('the end of a thumbnail in a JPEG header is not the end of the image', () => {
    const { jpeg } = IMAGES;
    const head = Buffer.from([0xff, 0xe1, 0, 2 + jpeg.length]);
    const whole = Buffer.concat([jpeg.subarray(0, 2), head, jpeg, jpeg.subarray(2)]);
    expect(checkImage(whole).kind).toBe('image');
    expect(checkImage(whole.subarray(0, -2)).kind).toBe('truncated');
  });

  test.each<[string, Buffer]>([
    ['a png whose chunk is longer than the file', Buffer.from(PNG).fill(0x7f, 33, 37)],
    ['a webp that says it has no length', Buffer.from(IMAGES.webp).fill(0, 4, 8)],
    ['a webp whose chunk is longer than itself', Buffer.from(IMAGES.webp).fill(0x7f, 16, 20)],
    ['a gif with a block of no known kind', Buffer.from(IMAGES.gif).fill(0x55, 19, 20)],
  ])('%s is truncated', (_, bytes) => {
    expect(checkImage(bytes).kind).toBe('truncated');
  });
});
