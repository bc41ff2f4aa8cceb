import { imageCost, previewSize, type ResultLimit, sizeOf } from './limit.ts';
import { type ImagePiece, type Piece, type TextPiece, textOf } from './piece.ts';

/** More images in one request are refused, or only taken if they are small. */
const MOST_IMAGES = 20;
/** Of all images of a result, in base64; a whole request may have 32 MB. */
const MOST_IMAGE_DATA = 10_000_000;

/** The images that are shown: what texts leave, and at least half, is for them. The first is shown whatever it takes. */
export function shownImages(pieces: readonly Piece[], { most, unit }: ResultLimit): ReadonlySet<Piece> {
  const texts = pieces.filter((it) => it.kind === 'text');
  const room = Math.max(most - totalSize(texts, unit), most / 2);
  const shown = new Set<Piece>();
  let data = 0;
  for (const piece of pieces.filter((it): it is ImagePiece => it.kind === 'image')) {
    const length = piece.image.source.data.length;
    const fits = (shown.size + 1) * imageCost(unit) <= room && data + length <= MOST_IMAGE_DATA;
    if (shown.size > 0 && (!fits || shown.size === MOST_IMAGES)) continue;
    shown.add(piece);
    data += length;
  }
  return shown;
}

/** The texts that go elsewhere: the largest, of equal ones the last, as few as leave room for the rest and a word about them. */
export function movedTexts(texts: readonly TextPiece[], limit: ResultLimit): ReadonlySet<TextPiece> {
  const { most, unit } = limit;
  const sizes = texts.map((text, at) => ({ text, at, size: sizeOf(textOf(text), unit) }));
  let total = sizes.reduce((sum, { size }) => sum + size, 0);
  const moved = new Set<TextPiece>();
  if (total <= most) return moved;
  const word = previewSize(limit);
  for (const { text, size } of sizes.sort((a, b) => b.size - a.size || b.at - a.at)) {
    if (total + word <= most) break;
    total -= size;
    moved.add(text);
  }
  return moved;
}

export function totalSize(texts: readonly TextPiece[], unit: ResultLimit['unit']): number {
  return texts.reduce((sum, text) => sum + sizeOf(textOf(text), unit), 0);
}
