import { isRecord } from '../../base/json-value.ts';
import { blockPieces, resourcePieces } from './block.ts';
import { fitPieces } from './fit-pieces.ts';
import { jsonText } from './json-text.ts';
import type { ModelContent } from './model-content.ts';
import { insteadOfImage, isBlank, type Piece, textOf } from './piece.ts';
import { readResult } from './read-result.ts';
import { repetitionOf } from './repeats.ts';
import type { ResultSource } from './result-source.ts';

/**
 * Turns what a tool gave, whatever it is, into what the model is told, within the limit. `structuredContent` stands for
 * the texts that repeat it; what else they say stays. Rejects only when it is interrupted.
 */
export async function toModel(
  result: unknown,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ModelContent> {
  const { blocks, structure, isError } = readResult(result);
  const repeats = structure && repetitionOf(structure.value);
  const said = repeats ? blocks.filter((block) => !isText(block) || !repeats(block.text)) : blocks;
  const pieces = await piecesOf(said, (block) => blockPieces(block, source), signal);
  if (structure) pieces.push({ kind: 'text', text: jsonText(structure.value) });
  const told = await contentOf(pieces, source, { isError });
  return structure && pieces.length === 1 ? bare(told) : told;
}

/** Turns what `resources/read` gave into what the model is told, within the limit. */
export async function contentsToModel(
  contents: unknown,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ModelContent> {
  const given: unknown[] = Array.isArray(contents) ? contents : contents == null ? [] : [contents];
  const pieces = await piecesOf(given, (it) => resourcePieces(it, source), signal);
  return contentOf(pieces, source, { isError: false });
}

/** Turns a call that brought no result at all, a JSON-RPC error for one, into what the model is told. */
export function failureToModel(failure: unknown, source: ResultSource): Promise<ModelContent> {
  const isTold = isRecord(failure) && typeof failure.message === 'string';
  const text = isTold ? String(failure.message) : jsonText(failure);
  return contentOf([{ kind: 'text', text }], source, { isError: true });
}

/** Pieces as content. A failed result may hold text only: the Messages API refuses images there. */
export async function contentOf(
  pieces: readonly Piece[],
  source: ResultSource,
  { isError }: { readonly isError: boolean },
): Promise<ModelContent> {
  const told = pieces.filter((piece) => piece.kind === 'image' || !isBlank(textOf(piece)));
  if (told.length === 0) {
    return { content: isError ? 'Unknown error' : `(${source.name} completed with no output)`, isError };
  }
  if (!isError) return { content: await fitPieces(told, source), isError };
  const texts = told.map((it) => (it.kind === 'image' ? insteadOfImage(it, 'the call failed') : it));
  const blocks = await fitPieces(texts, source);
  return { content: blocks.map((it) => (it.type === 'text' ? it.text : '')).join('\n'), isError };
}

function bare({ content, isError }: ModelContent): ModelContent {
  const [only] = content;
  return { content: typeof only === 'object' && only.type === 'text' ? only.text : content, isError };
}

/** One after the other: a result with thousands of images must not open thousands of files at once. */
async function piecesOf(
  blocks: readonly unknown[],
  convert: (block: unknown) => Promise<Piece[]>,
  signal: AbortSignal | undefined,
): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const block of blocks) {
    pieces.push(...(await convert(block)));
    // Nobody hears of it any more, so nothing more is saved.
    signal?.throwIfAborted();
  }
  return pieces;
}

function isText(block: unknown): block is { type: 'text'; text: string } {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string';
}
