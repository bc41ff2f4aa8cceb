/** The image types that model APIs accept. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
export type ImageSize = { readonly width: number; readonly height: number };

/** Largest image that model APIs accept, in bytes; base64 adds a third. */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_SIDE_PIXELS = 8_000;

/** Whether data is an image that a model accepts, by its bytes and not by the declared type. */
export type ImageCheck =
  | { readonly kind: 'image'; readonly type: ImageType }
  | { readonly kind: 'too-large'; readonly type: ImageType; readonly why: string }
  | { readonly kind: 'truncated'; readonly type: ImageType }
  | { readonly kind: 'none' };

/**
 * Checks an image before it is sent: model APIs reject a request with one bad image, and each later request that
 * includes it.
 */
export function checkImage(bytes: Buffer): ImageCheck {
  const type = imageType(bytes);
  const image = type && FORMATS[type].read(bytes);
  if (!image || image.width === 0 || image.height === 0) return { kind: 'none' };
  const tooLarge = (why: string): ImageCheck => ({ kind: 'too-large', type, why });
  if (bytes.length > MAX_IMAGE_BYTES) {
    return tooLarge(`${bytes.length} bytes, more than ${MAX_IMAGE_BYTES}`);
  }
  const { width, height } = image;
  if (Math.max(width, height) > MAX_SIDE_PIXELS) {
    return tooLarge(`${width} × ${height} pixels, more than ${MAX_SIDE_PIXELS} on a side`);
  }
  return { kind: image.isComplete() ? 'image' : 'truncated', type };
}

/** The type by the first bytes: model APIs reject an image sent under another type. */
export function imageType(bytes: Buffer): ImageType | undefined {
  const head = bytes.subarray(0, 12).toString('latin1');
  const types = Object.keys(FORMATS) as ImageType[];
  return types.find((type) => FORMATS[type].signature.test(head));
}

/** Whether models accept images of this type. */
export function isImageType(mimeType: string): boolean {
  return Object.hasOwn(FORMATS, mimeType);
}

/** The size in the image's header; undefined for data without a valid header. */
export function imageSize(bytes: Buffer, type: ImageType): ImageSize | undefined {
  const size = FORMATS[type].read(bytes);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

type Header = ImageSize & {
  /** Whether the data reaches the end of the image; further bytes are allowed. */
  isComplete(): boolean;
};

const FORMATS: Readonly<
  Record<ImageType, { readonly signature: RegExp; read(bytes: Buffer): Header | undefined }>
> = {
  'image/png': { signature: /^\x89PNG\r\n/, read: readPng },
  'image/jpeg': { signature: /^\xff\xd8\xff/, read: readJpeg },
  'image/gif': { signature: /^GIF8[79]a/, read: readGif },
  'image/webp': { signature: /^RIFF.{4}WEBP/s, read: readWebp },
};

function readPng(bytes: Buffer): Header | undefined {
  if (bytes.length < 33 || !hasText(bytes, 12, 'IHDR')) return undefined;
  const isComplete = () => {
    let chunk = 8;
    while (chunk + 12 <= bytes.length && !hasText(bytes, chunk + 4, 'IEND')) {
      chunk += 12 + bytes.readUInt32BE(chunk);
    }
    return chunk + 12 <= bytes.length;
  };
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), isComplete };
}

/** Follows the segments: the frame header contains the size, and the last scan ends with an end marker. */
function readJpeg(bytes: Buffer): Header | undefined {
  let size: ImageSize | undefined;
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xda) break;
    if (isFrame(marker) && at + 9 <= bytes.length) {
      size ??= { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  // A thumbnail in the header has an end marker of its own, so only one after the start of the scan counts.
  return size && { ...size, isComplete: () => bytes[at + 1] === 0xda && bytes.lastIndexOf(JPEG_END) > at };
}

const JPEG_END = Buffer.from([0xff, 0xd9]);

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readGif(bytes: Buffer): Header | undefined {
  if (bytes.length < 13) return undefined;
  const isComplete = () => {
    let at = 13 + colorTableLength(bytes[10]);
    while (at < bytes.length && bytes[at] !== 0x3b) {
      const block = bytes[at];
      if (block === 0) at += 1;
      else if (block === 0x21) at = afterSubBlocks(bytes, at + 2);
      else if (block === 0x2c) at = afterSubBlocks(bytes, at + 11 + colorTableLength(bytes[at + 9]));
      else return false;
    }
    return at < bytes.length;
  };
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), isComplete };
}

function colorTableLength(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function afterSubBlocks(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at]) at += 1 + (bytes[at] as number);
  return at + 1;
}

function readWebp(bytes: Buffer): Header | undefined {
  if (bytes.length < 30) return undefined;
  const size = webpSize(bytes);
  const length = bytes.readUInt32LE(4) + 8;
  const isComplete = () => length <= bytes.length && 20 + bytes.readUInt32LE(16) <= length;
  return size && { ...size, isComplete };
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (hasText(bytes, 12, 'VP8X')) {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (hasText(bytes, 12, 'VP8L')) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!hasText(bytes, 12, 'VP8 ')) return undefined;
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

function hasText(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}
