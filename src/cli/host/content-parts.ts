import { isRecord } from '../../base/is-record.ts';
import { decodeBase64 } from '../../host/result/decode-base64.ts';
import { onOneLine } from '../chat/neutralise.ts';
import { sized } from './figures.ts';

/** One thing a server gave: text as it is, or something that is told of by a line and may be kept in a file. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'thing';
      readonly line: string;
      readonly file?: { readonly mimeType: string; readonly bytes: Buffer };
    };

/** Content blocks as a person sees them; one of a kind nobody knows is named. */
export function partsOf(content: readonly unknown[]): Part[] {
  return content.flatMap((block): Part[] => {
    if (!isRecord(block)) return [];
    switch (block.type) {
      case 'text':
        return [{ kind: 'text', text: String(block.text ?? '') }];
      case 'image':
      case 'audio':
        return [binary(block.type, block.data, block.mimeType)];
      case 'resource':
        return isRecord(block.resource) ? resourceParts(block.resource) : [];
      case 'resource_link':
        return [{ kind: 'thing', line: `link ${words(block.uri, block.name, block.mimeType)}` }];
      default:
        return [{ kind: 'thing', line: words(block.type) }];
    }
  });
}

/** What a resource holds: a text below a line that names it, or a line on its bytes. */
export function resourceParts(resource: Readonly<Record<string, unknown>>): Part[] {
  const { uri, mimeType, text, blob } = resource;
  if (typeof text !== 'string') return [binary(`resource ${words(uri)}`, blob, mimeType)];
  const size = sized(Buffer.byteLength(text));
  return [
    { kind: 'thing', line: `resource ${words(uri, mimeType ?? 'text')}, ${size}` },
    { kind: 'text', text },
  ];
}

/** Parts as text: each on lines of its own. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => endLine(part.kind === 'text' ? part.text : `[${part.line}]`)).join('');
}

/** A text ends its line, if there is any. */
export function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function binary(what: string, data: unknown, type: unknown): Part {
  const decoded = typeof data === 'string' ? decodeBase64(data) : undefined;
  const mimeType = typeof type === 'string' ? type : (decoded?.mimeType ?? 'application/octet-stream');
  if (!decoded) return { kind: 'thing', line: `${what} ${words(mimeType)}, which is no base64` };
  const line = `${what} ${words(mimeType)}, ${sized(decoded.bytes.length)}`;
  return { kind: 'thing', line, file: { mimeType, bytes: decoded.bytes } };
}

function words(...given: readonly unknown[]): string {
  return given.flatMap((it) => (typeof it === 'string' && it !== '' ? [onOneLine(it)] : [])).join(' ');
}
