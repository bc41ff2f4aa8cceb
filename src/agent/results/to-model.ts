import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import type { ReadMcpResourceOutput } from '../../protocol/tools/remote-tools.ts';
import { saveBinary } from './binary.ts';
import { fitToLimit } from './fit-to-limit.ts';
import { besideImage, insteadOfImage, isBlank, type ModelContent, type Piece, textOf } from './pieces.ts';
import type { ResultSource } from './result-files.ts';
import { jsonText, parseResult } from './tool-result.ts';

/**
 * Converts any tool result into model content within the limit. `structuredContent` replaces text blocks with the same
 * content. Rejects only if the signal is aborted.
 */
export async function toModel(
  result: unknown,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ModelContent> {
  const { blocks, structure, isError } = parseResult(result);
  const repeats = structure && repetitionOf(structure.value);
  const kept = repeats ? blocks.filter((block) => !isText(block) || !repeats(block.text)) : blocks;
  const pieces = await piecesOf(kept, (block) => blockPieces(block, source), signal);
  if (structure) pieces.push({ kind: 'text', text: jsonText(structure.value) });
  const content = await contentOf(pieces, source, { isError });
  return structure && pieces.length === 1 ? bare(content) : content;
}

/** Converts a result of `resources/read` into model content within the limit, and into the data for programs. */
export async function contentsToModel(
  contents: unknown,
  source: ResultSource,
  signal?: AbortSignal,
): Promise<ModelContent & { programResult: ReadMcpResourceOutput }> {
  const given: unknown[] = Array.isArray(contents) ? contents : contents == null ? [] : [contents];
  const read: ReadMcpResourceOutput['contents'] = [];
  const convert = async (it: unknown) => {
    const pieces = await resourcePieces(it, source);
    if (isRecord(it)) read.push(describeContents(it, pieces));
    return pieces;
  };
  const pieces = await piecesOf(given, convert, signal);
  const content = await contentOf(pieces, source, { isError: false });
  return { ...content, programResult: { contents: read } };
}

/** Data that is not text is described by the text for the model and the path of its file. */
function describeContents(
  { uri, mimeType, text }: Record<string, unknown>,
  pieces: readonly Piece[],
): ReadMcpResourceOutput['contents'][number] {
  const saved = pieces.find((piece) => piece.saved && 'path' in piece.saved)?.saved;
  const shown = pieces.map((it) => (it.kind === 'image' ? besideImage(it) : textOf(it)));
  return {
    uri: String(uri),
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(saved && 'path' in saved && { blobSavedTo: saved.path }),
    text: typeof text === 'string' ? text : shown.filter((it) => it !== undefined).join('\n'),
  };
}

/** Converts a call that failed without a result, such as a JSON-RPC error, into model content. */
export function failureToModel(failure: unknown, source: ResultSource): Promise<ModelContent> {
  const hasMessage = isRecord(failure) && typeof failure.message === 'string';
  const text = hasMessage ? String(failure.message) : jsonText(failure);
  return contentOf([{ kind: 'text', text }], source, { isError: true });
}

/** Pieces as content. A failed result contains text only: the Messages API rejects images there. */
export async function contentOf(
  pieces: readonly Piece[],
  source: ResultSource,
  { isError }: { readonly isError: boolean },
): Promise<ModelContent> {
  const content = pieces.filter((piece) => piece.kind === 'image' || !isBlank(textOf(piece)));
  if (content.length === 0) {
    return { content: isError ? 'Unknown error' : `(${source.name} completed with no output)`, isError };
  }
  if (!isError) return { content: await fitToLimit(content, source), isError };
  const texts = content.map((it) => (it.kind === 'image' ? insteadOfImage(it, 'the call failed') : it));
  const blocks = await fitToLimit(texts, source);
  return { content: blocks.map((it) => (it.type === 'text' ? it.text : '')).join('\n'), isError };
}

function bare({ content, isError }: ModelContent): ModelContent {
  const [only] = content;
  return { content: typeof only === 'object' && only.type === 'text' ? only.text : content, isError };
}

/** Sequential, so that a result with thousands of images does not open thousands of files at once. */
async function piecesOf(
  blocks: readonly unknown[],
  convert: (block: unknown) => Promise<Piece[]>,
  signal: AbortSignal | undefined,
): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const block of blocks) {
    pieces.push(...(await convert(block)));
    // The call was canceled: save nothing more.
    signal?.throwIfAborted();
  }
  return pieces;
}

/** Maximum length of structured content that is compared as a whole; beyond it, only its strings are compared. */
const MAX_COMPARED_LENGTH = 5_000_000;

/**
 * Finds texts that repeat `structuredContent`: the same JSON, one of its string members, or, if a server wrapped its
 * result as `{ "result": value }`, that value or one of its items.
 */
export function repetitionOf(structure: unknown): (text: string) => boolean {
  const wrapped =
    isRecord(structure) && Object.keys(structure).length === 1 && 'result' in structure
      ? [structure.result].flat()
      : [];
  const values = [structure, ...(isRecord(structure) ? Object.values(structure) : []), ...wrapped];
  const strings = new Set(values.filter((value) => typeof value === 'string'));
  const isCompared = jsonText(structure).length <= MAX_COMPARED_LENGTH;
  const compared = isRecord(structure) && wrapped.length === 0 ? [structure] : values;
  const known = new Set(isCompared ? compared.map(canonicalJson) : []);
  return (text) => strings.has(text) || (known.size > 0 && known.has(canonicalJson(parsedJson(text))));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON with sorted members; for a value that JSON cannot express, a new object, which equals nothing. */
function canonicalJson(value: unknown): string | object {
  try {
    return JSON.stringify(value, sortMembers) ?? {};
  } catch {
    return {};
  }
}

function sortMembers(_name: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isText(block: unknown): block is { type: 'text'; text: string } {
  return isRecord(block) && block.type === 'text' && typeof block.text === 'string';
}

/**
 * Converts any content block of a tool result into pieces; no block is dropped. `annotations.audience` is ignored: it is
 * a hint for displaying results, and the model receives all of them.
 */
export async function blockPieces(block: unknown, source: ResultSource): Promise<Piece[]> {
  const { server } = source;
  if (typeof block === 'string') return [{ kind: 'text', text: block }];
  if (!isRecord(block) || typeof block.type !== 'string') return unreadable('content', block, source);
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string'
        ? [{ kind: 'text', text: block.text }]
        : unreadable('text', block, source);
    case 'image':
    case 'audio': {
      const { data, mimeType } = block;
      if (typeof data !== 'string') return unreadable(block.type, block, source);
      const label = block.type === 'image' ? `[Image from ${server}]` : `[Audio from ${server}]`;
      return [await saveBinary(label, data, mimeType, source)];
    }
    case 'resource_link':
      return typeof block.uri === 'string'
        ? [{ kind: 'text', text: linkText({ ...block, uri: block.uri }) }]
        : unreadable('resource link', block, source);
    case 'resource':
      return isRecord(block.resource)
        ? resourcePieces(block.resource, source)
        : unreadable('resource', block, source);
    default:
      return [
        {
          kind: 'text',
          label: `[Content of unknown type ${truncate(jsonText(block.type), 300)} from ${server}]`,
          text: jsonText(block),
        },
      ];
  }
}

/** The contents of an embedded resource or of a `resources/read` result: text, data, or both. */
async function resourcePieces(resource: unknown, source: ResultSource): Promise<Piece[]> {
  if (!isRecord(resource)) return unreadable('resource', resource, source);
  const { uri, text, blob, mimeType } = resource;
  if (typeof text !== 'string' && typeof blob !== 'string') return unreadable('resource', resource, source);
  const label = `[Resource from ${source.server}${typeof uri === 'string' ? ` at ${truncate(uri, 300)}` : ''}]`;
  const pieces: Piece[] = [];
  if (typeof text === 'string') pieces.push({ kind: 'text', label, text: text === '' ? '(empty)' : text });
  if (typeof blob === 'string') {
    const kept = await saveBinary(label, blob, mimeType, source);
    pieces.push(kept.kind === 'image' ? { ...kept, label } : kept);
  }
  return pieces;
}

function unreadable(what: string, value: unknown, { server }: ResultSource): Piece[] {
  return [{ kind: 'text', label: `[Unreadable ${what} from ${server}]`, text: jsonText(value) }];
}

function linkText({ name, uri, description }: Record<string, unknown> & { uri: string }): string {
  const title = typeof name === 'string' ? name : '';
  const about = typeof description === 'string' && description !== '' ? ` (${description})` : '';
  return `[Resource link: ${title}] ${uri}${about}`;
}
