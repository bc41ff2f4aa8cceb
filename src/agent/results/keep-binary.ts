import { messageOf } from '../../protocol/sdk-error.ts';
import { decodeBase64 } from './decode-base64.ts';
import { extensionOf } from './extension.ts';
import { isViewable } from './image-type.ts';
import type { Kept, Piece, TextPiece } from './piece.ts';
import type { ResultSource } from './result-source.ts';
import { view } from './view.ts';

/**
 * Keeps binary data in a file. What a model can look at is an image as well; anything else it is told of in words. What
 * is a text and says so needs no file.
 */
export async function keepBinary(
  label: string,
  data: string,
  said: unknown,
  source: ResultSource,
): Promise<Piece> {
  const decoded = decodeBase64(data);
  const named = typeof said === 'string' && said !== '' ? said : decoded?.mimeType;
  const claimed = (named ?? 'application/octet-stream').slice(0, 100);
  const told = (text: string): TextPiece => ({ kind: 'text', label, text });
  if (!decoded) {
    const kept = await keep(Buffer.from(data), '.txt', source);
    return told(`Data that is no base64 (${claimed}, ${data.length} characters) ${whereabouts(kept)}`);
  }
  const { bytes } = decoded;
  if (bytes.length === 0) return told(`Binary content (${claimed}, 0 bytes): there is nothing in it`);
  const seen = view(bytes);
  const text = seen.kind === 'none' ? textIn(bytes, claimed) : undefined;
  if (text !== undefined) return told(text);
  const type = seen.kind === 'none' ? claimed : seen.type;
  const kept = await keep(bytes, extensionOf(type), source);
  if (seen.kind === 'image') {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: seen.type, data: bytes.toString('base64') },
    };
    return { kind: 'image', image, kept };
  }
  const content = `Binary content (${type}, ${bytes.length} bytes) ${whereabouts(kept)}`;
  if (seen.kind === 'too-large') return told(`${content}. It is too large to be shown: ${seen.why}`);
  if (seen.kind === 'cut-off') return told(`${content}. It is not shown: the end of the image is missing`);
  return told(isViewable(claimed) ? `${content}. It is not shown: the data is no ${claimed}` : content);
}

function textIn(bytes: Buffer, mimeType: string): string | undefined {
  if (!TEXT.test(mimeType) || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const TEXT = /^text\/|^application\/(?:.+\+)?(?:json|xml|yaml)\b/i;

/** A disk that is full costs the file, not the result. */
export async function keep(bytes: Uint8Array, extension: string, { store }: ResultSource): Promise<Kept> {
  try {
    return { path: await store.save(bytes, extension) };
  } catch (fault) {
    return { fault: messageOf(fault).slice(0, 300) };
  }
}

function whereabouts(kept: Kept): string {
  return 'path' in kept ? `saved to ${kept.path}` : `could not be saved: ${kept.fault}`;
}
