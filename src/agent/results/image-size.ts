import type { ImageType } from './image-type.ts';

export type ImageSize = { readonly width: number; readonly height: number };

/** What the head of an image says of its size; nothing if there is no such head, and then it is no image. */
export function imageSize(bytes: Buffer, type: ImageType): ImageSize | undefined {
  const size = SIZES[type](bytes);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

type ReadSize = (bytes: Buffer) => ImageSize | undefined;

const SIZES: Readonly<Record<ImageType, ReadSize>> = {
  'image/png': (bytes) =>
    bytes.length >= 33 && isAt(bytes, 12, 'IHDR')
      ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      : undefined,
  'image/gif': (bytes) =>
    bytes.length >= 13 ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) } : undefined,
  'image/webp': webp,
  'image/jpeg': jpeg,
};

function webp(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30) return undefined;
  if (isAt(bytes, 12, 'VP8X')) {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (isAt(bytes, 12, 'VP8L')) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!isAt(bytes, 12, 'VP8 ')) return undefined;
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/** Segment after segment, up to the one that begins a frame. */
function jpeg(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    } else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

/** Tables and reserved markers among those of frames. */
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

function isAt(bytes: Buffer, at: number, word: string): boolean {
  return bytes.toString('latin1', at, at + word.length) === word;
}
