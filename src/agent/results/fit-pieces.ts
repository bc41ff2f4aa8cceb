import { movedTexts, shownImages, totalSize } from './choose.ts';
import { imageCost } from './limit.ts';
import type { ModelImage, ModelText } from './model-content.ts';
import { besideImage, insteadOfImage, type Piece, type TextPiece, textOf } from './piece.ts';
import type { ResultSource } from './result-source.ts';
import { spill } from './spill.ts';

/**
 * The pieces as blocks that fit the limit together. The largest texts go, all of them to one file, and how they begin
 * and end stands in the place of the first; images that are too many are named.
 */
export async function fitPieces(
  pieces: readonly Piece[],
  source: ResultSource,
): Promise<(ModelText | ModelImage)[]> {
  const { most, unit } = source.limit;
  const shown = shownImages(pieces, source.limit);
  const items = pieces.flatMap((piece) => itemsOf(piece, shown));
  const texts = items.filter((item) => item.kind === 'text');
  const room = Math.max(most - shown.size * imageCost(unit), Math.floor(most / 2));
  const moved = movedTexts(texts, { most: room, unit });
  if (moved.size === 0) return items.map(toBlock);
  const staying = texts.filter((text) => !moved.has(text));
  const going = texts.filter((text) => moved.has(text));
  const told: TextPiece = {
    kind: 'text',
    text: await spill(going, { room: room - totalSize(staying, unit), isAll: staying.length === 0 }, source),
  };
  return items.flatMap((item) => {
    if (item === going[0]) return [toBlock(told)];
    return item.kind === 'text' && moved.has(item) ? [] : [toBlock(item)];
  });
}

type Item = TextPiece | { readonly kind: 'shown'; readonly image: ModelImage };

function itemsOf(piece: Piece, shown: ReadonlySet<Piece>): Item[] {
  if (piece.kind === 'text') return [piece];
  if (!shown.has(piece)) return [insteadOfImage(piece, 'the result has more images than fit')];
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
