import { spill } from './long-text.ts';
import {
  besideImage,
  type ImagePiece,
  insteadOfImage,
  type ModelImage,
  type ModelText,
  type Piece,
  type TextPiece,
  textOf,
} from './pieces.ts';
import type { ResultSource } from './result-files.ts';
import { imageCost, previewSize, type ResultLimit, sizeOf } from './result-limit.ts';

/**
 * The pieces as blocks within the limit. The largest texts are moved to a file, and a summary replaces the first of
 * them; images beyond the limit are replaced by their paths.
 */
export async function fitToLimit(
  pieces: readonly Piece[],
  source: ResultSource,
): Promise<(ModelText | ModelImage)[]> {
  const { max, unit } = source.limit;
  const shown = shownImages(pieces, source.limit);
  const items = pieces.flatMap((piece) => itemsOf(piece, shown));
  const texts = items.filter((item) => item.kind === 'text');
  const room = Math.max(max - shown.size * imageCost(unit), Math.floor(max / 2));
  const moved = movedTexts(texts, { max: room, unit });
  if (moved.size === 0) return items.map(toBlock);
  const staying = texts.filter((text) => !moved.has(text));
  const going = texts.filter((text) => moved.has(text));
  const summary: TextPiece = {
    kind: 'text',
    text: await spill(going, { room: room - totalSize(staying, unit), isAll: staying.length === 0 }, source),
  };
  return items.flatMap((item) => {
    if (item === going[0]) return [toBlock(summary)];
    return item.kind === 'text' && moved.has(item) ? [] : [toBlock(item)];
  });
}

type Item = TextPiece | { readonly kind: 'shown'; readonly image: ModelImage };

function itemsOf(piece: Piece, shown: ReadonlySet<Piece>): Item[] {
  if (piece.kind === 'text') return [piece];
  if (!shown.has(piece)) return [insteadOfImage(piece, 'the result has too many images')];
  const before = piece.label;
  const after = besideImage(piece);
  return [
    ...(before === undefined ? [] : [{ kind: 'text' as const, text: before }]),
    { kind: 'shown', image: piece.image },
    ...(after === undefined ? [] : [{ kind: 'text' as const, text: after }]),
  ];
}

function toBlock(item: Item): ModelText | ModelImage {
  return item.kind === 'shown' ? item.image : { type: 'text', text: textOf(item).toWellFormed() };
}

/** Model APIs reject more images in one request, or restrict their size. */
const MAX_IMAGES = 20;
/** All images of a result together, in base64; the limit of a request is 32 MB. */
const MAX_IMAGE_DATA = 10_000_000;

/** The images that are shown. They may use what texts leave, and at least half; the first one is always shown. */
function shownImages(pieces: readonly Piece[], { max, unit }: ResultLimit): ReadonlySet<Piece> {
  const texts = pieces.filter((it) => it.kind === 'text');
  const room = Math.max(max - totalSize(texts, unit), max / 2);
  const shown = new Set<Piece>();
  let data = 0;
  for (const piece of pieces.filter((it): it is ImagePiece => it.kind === 'image')) {
    const length = piece.image.source.data.length;
    const fits = (shown.size + 1) * imageCost(unit) <= room && data + length <= MAX_IMAGE_DATA;
    if (shown.size > 0 && (!fits || shown.size === MAX_IMAGES)) continue;
    shown.add(piece);
    data += length;
  }
  return shown;
}

/** The texts that are moved to a file: the largest ones, as few as needed so that the rest and a summary fit. */
function movedTexts(texts: readonly TextPiece[], limit: ResultLimit): ReadonlySet<TextPiece> {
  const { max, unit } = limit;
  const sizes = texts.map((text, at) => ({ text, at, size: sizeOf(textOf(text), unit) }));
  let total = sizes.reduce((sum, { size }) => sum + size, 0);
  const moved = new Set<TextPiece>();
  if (total <= max) return moved;
  const summary = previewSize(limit);
  for (const { text, size } of sizes.sort((a, b) => b.size - a.size || b.at - a.at)) {
    if (total + summary <= max) break;
    total -= size;
    moved.add(text);
  }
  return moved;
}

function totalSize(texts: readonly TextPiece[], unit: ResultLimit['unit']): number {
  return texts.reduce((sum, text) => sum + sizeOf(textOf(text), unit), 0);
}
