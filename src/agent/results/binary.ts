import { messageOf } from '../../protocol/sdk-error.ts';
import { checkImage, isImageType } from './image-format.ts';
import type { Piece, SavedFile, TextPiece } from './pieces.ts';
import type { ResultSource } from './result-files.ts';

/**
 * Saves binary data to a file. An image that models accept becomes an image piece, UTF-8 data of a text type its text,
 * and other data a text with the path.
 */
export async function saveBinary(
  label: string,
  data: string,
  declaredType: unknown,
  source: ResultSource,
): Promise<Piece> {
  const decoded = decodeBase64(data);
  const named = typeof declaredType === 'string' && declaredType !== '' ? declaredType : decoded?.mimeType;
  const claimed = (named ?? 'application/octet-stream').slice(0, 100);
  const textPiece = (text: string, saved?: SavedFile): TextPiece => ({
    kind: 'text',
    label,
    text,
    ...(saved && { saved }),
  });
  if (!decoded) {
    const saved = await saveBytes(Buffer.from(data), '.txt', source);
    return textPiece(
      `Invalid base64 data (${claimed}, ${data.length} characters) ${describeSaved(saved)}`,
      saved,
    );
  }
  const { bytes } = decoded;
  if (bytes.length === 0) return textPiece(`Binary content (${claimed}, 0 bytes): empty`);
  const seen = checkImage(bytes);
  const text = seen.kind === 'none' ? textIn(bytes, claimed) : undefined;
  if (text !== undefined) return textPiece(text);
  const type = seen.kind === 'none' ? claimed : seen.type;
  const saved = await saveBytes(bytes, extensionOf(type), source);
  if (seen.kind === 'image') {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: seen.type, data: bytes.toString('base64') },
    };
    return { kind: 'image', image, saved };
  }
  const content = `Binary content (${type}, ${bytes.length} bytes) ${describeSaved(saved)}`;
  if (seen.kind === 'too-large')
    return textPiece(`${content}. Not shown because it is too large: ${seen.why}`, saved);
  if (seen.kind === 'truncated')
    return textPiece(`${content}. Not shown because the image is truncated`, saved);
  return textPiece(
    isImageType(claimed) ? `${content}. Not shown because the data is not ${claimed}` : content,
    saved,
  );
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

/** Saves bytes; a failure, such as a full disk, is returned and does not fail the result. */
export async function saveBytes(
  bytes: Uint8Array,
  extension: string,
  { store }: ResultSource,
): Promise<SavedFile> {
  try {
    return { path: await store.save(bytes, extension) };
  } catch (fault) {
    return { fault: messageOf(fault).slice(0, 300) };
  }
}

function describeSaved(saved: SavedFile): string {
  return 'path' in saved ? `saved to ${saved.path}` : `could not be saved: ${saved.fault}`;
}

const DATA_URL = /^data:([^,;]*)[^,]*;base64,/i;
/** Maximum length of a `data:` URL before its data. */
const MAX_URL_HEAD = 200;
const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64, also with line breaks, in the URL-safe alphabet or in a `data:` URL; undefined for other text. */
export function decodeBase64(
  given: string,
): { readonly bytes: Buffer; readonly mimeType?: string } | undefined {
  const text = given.trim();
  const url = DATA_URL.exec(text.slice(0, MAX_URL_HEAD));
  const digits = (url ? text.slice(url[0].length) : text)
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const isWhole = DIGITS.test(digits) && digits.replace(/=+$/, '').length % 4 !== 1;
  if (!isWhole) return undefined;
  return { bytes: Buffer.from(digits, 'base64'), ...(url?.[1] && { mimeType: url[1] }) };
}

/** The file extension for a type. Only extensions of this table are used: no part of a file name comes from a server. */
export function extensionOf(mimeType: string): string {
  const type = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return EXTENSIONS.get(type) ?? (type.startsWith('text/') ? '.txt' : '.bin');
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', '.png'],
  ['image/jpeg', '.jpg'],
  ['image/gif', '.gif'],
  ['image/webp', '.webp'],
  ['image/svg+xml', '.svg'],
  ['image/bmp', '.bmp'],
  ['image/tiff', '.tiff'],
  ['image/avif', '.avif'],
  ['image/heic', '.heic'],
  ['image/x-icon', '.ico'],
  ['audio/wav', '.wav'],
  ['audio/x-wav', '.wav'],
  ['audio/mpeg', '.mp3'],
  ['audio/mp4', '.m4a'],
  ['audio/ogg', '.ogg'],
  ['audio/flac', '.flac'],
  ['audio/webm', '.weba'],
  ['video/mp4', '.mp4'],
  ['video/webm', '.webm'],
  ['application/pdf', '.pdf'],
  ['application/json', '.json'],
  ['application/xml', '.xml'],
  ['application/zip', '.zip'],
  ['application/gzip', '.gz'],
  ['application/x-tar', '.tar'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', '.docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', '.pptx'],
  ['text/csv', '.csv'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
  ['text/xml', '.xml'],
]);
