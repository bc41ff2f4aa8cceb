import { imageSize } from './image-size.ts';
import { type ImageType, imageType } from './image-type.ts';
import { isWholeImage } from './is-whole-image.ts';

/** What models take of one image, in bytes; in base64 it grows by a third. */
export const LARGEST_IMAGE = 3_750_000;
/** Pixels on a side. */
const LONGEST_SIDE = 8_000;

/** Whether a model can look at data, by what the data is and not by what it is said to be. */
export type View =
  | { readonly kind: 'image'; readonly type: ImageType }
  | { readonly kind: 'too-large'; readonly type: ImageType; readonly why: string }
  /** It is an image, and its end is missing. */
  | { readonly kind: 'cut-off'; readonly type: ImageType }
  | { readonly kind: 'none' };

/** A request with one image that a model's interface refuses fails as a whole, and so does every later one. */
export function view(bytes: Buffer): View {
  const type = imageType(bytes);
  const size = type && imageSize(bytes, type);
  if (!type || !size) return { kind: 'none' };
  if (bytes.length > LARGEST_IMAGE) {
    return { kind: 'too-large', type, why: `${bytes.length} bytes, more than ${LARGEST_IMAGE}` };
  }
  const { width, height } = size;
  if (Math.max(width, height) > LONGEST_SIDE) {
    return {
      kind: 'too-large',
      type,
      why: `${width} × ${height} pixels, more than ${LONGEST_SIDE} on a side`,
    };
  }
  return { kind: isWholeImage(bytes, type) ? 'image' : 'cut-off', type };
}
