import type { ImageType } from './image-type.ts';

/** Whether an image goes on to its end, by what its format says of its own length; bytes after that do no harm. */
export function isWholeImage(bytes: Buffer, type: ImageType): boolean {
  return ENDS[type](bytes);
}

const ENDS: Readonly<Record<ImageType, (bytes: Buffer) => boolean>> = {
  'image/png': png,
  'image/jpeg': jpeg,
  'image/gif': gif,
  // What it says of its own length, and no less than its first chunk needs.
  'image/webp': (bytes) => {
    const length = bytes.readUInt32LE(4) + 8;
    return length <= bytes.length && 20 + bytes.readUInt32LE(16) <= length;
  },
};

/** Chunk after chunk, up to the one that is the last. */
function png(bytes: Buffer): boolean {
  let at = 8;
  while (at + 12 <= bytes.length) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return true;
    at += 12 + bytes.readUInt32BE(at);
  }
  return false;
}

/** An end mark after the scan has begun: a small picture in the head, as of cameras, has one of its own. */
function jpeg(bytes: Buffer): boolean {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xda) return bytes.lastIndexOf(END_OF_JPEG) > at;
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return false;
}

const END_OF_JPEG = Buffer.from([0xff, 0xd9]);

/** Block after block, up to the trailer. */
function gif(bytes: Buffer): boolean {
  let at = 13 + colours(bytes[10] as number);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === 0x3b) return true;
    // Some programs leave a zero between blocks.
    if (kind === 0) at++;
    else if (kind === 0x21) at = afterSubBlocks(bytes, at + 2);
    else if (kind === 0x2c) at = afterSubBlocks(bytes, at + 11 + colours(bytes[at + 9] ?? 0));
    else return false;
  }
  return false;
}

/** How many bytes the table of colours takes that these flags speak of. */
function colours(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function afterSubBlocks(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at]) at += 1 + (bytes[at] as number);
  return at + 1;
}
