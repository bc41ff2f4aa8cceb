import { decodeBase64 } from '../../agent/results/binary.ts';
import { jsonText, parseResult } from '../../agent/results/tool-result.ts';

import { isRecord } from '../../base/json-value.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { formatBytes, jsonDocument } from './format.ts';

/** One part of a result: text or JSON that is printed, or other content that is described in one line and can be saved to a file. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** JSON as received. */
  | { readonly kind: 'json'; readonly text: string }
  | {
      readonly kind: 'thing';
      readonly line: string;
      readonly file?: { readonly mimeType: string; readonly bytes: Buffer };
    };

/** Content blocks for display; a block of an unknown type is shown as JSON. */
export function partsOf(content: readonly unknown[]): Part[] {
  return content.flatMap((block): Part[] => {
    if (typeof block === 'string') return [{ kind: 'text', text: block }];
    if (!isRecord(block)) return unknownPart('content', block);
    return knownParts(block) ?? unknownPart(joinTexts(block.type) || 'content', block);
  });
}

function knownParts(block: Readonly<Record<string, unknown>>): Part[] | undefined {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }];
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return [binary(type, data, mimeType)];
  }
  if (type === 'resource' && isRecord(resource)) return resourceParts(resource);
  if (type === 'resource_link' && typeof uri === 'string') {
    return [{ kind: 'thing', line: `link ${joinTexts(uri, name, mimeType)}` }];
  }
  return undefined;
}

/** The content of a resource: its text below a line that names it, a line that describes its bytes, or both. */
export function resourceParts(resource: Readonly<Record<string, unknown>>): Part[] {
  const { uri, mimeType, text, blob } = resource;
  const parts: Part[] = [];
  if (typeof text === 'string') {
    const size = formatBytes(Buffer.byteLength(text));
    parts.push({ kind: 'thing', line: `${joinTexts('resource', uri, mimeType ?? 'text')}, ${size}` });
    parts.push({ kind: 'text', text });
  }
  if (typeof blob === 'string') parts.push(binary(joinTexts('resource', uri), blob, mimeType));
  return parts.length > 0 ? parts : unknownPart(joinTexts('resource', uri), resource);
}

/** Formats parts, each on its own lines. */
export function partsText(parts: readonly Part[]): string {
  return parts.map((part) => endLine(part.kind === 'thing' ? `[${part.line}]` : part.text)).join('');
}

/** Adds a trailing newline to text that is not empty. */
export function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function unknownPart(what: string, value: unknown): Part[] {
  return [
    { kind: 'thing', line: `${what}, unknown type` },
    { kind: 'json', text: jsonText(value) },
  ];
}

function binary(what: string, data: string, type: unknown): Part {
  const decoded = decodeBase64(data);
  const mimeType = typeof type === 'string' ? type : (decoded?.mimeType ?? 'application/octet-stream');
  if (!decoded) return { kind: 'thing', line: `${what} ${joinTexts(mimeType)}, invalid base64` };
  const line = `${what} ${joinTexts(mimeType)}, ${formatBytes(decoded.bytes.length)}`;
  return { kind: 'thing', line, file: { mimeType, bytes: decoded.bytes } };
}

function joinTexts(...given: readonly unknown[]): string {
  return given.flatMap((it) => (typeof it === 'string' && it !== '' ? [sanitizeLine(it)] : [])).join(' ');
}

/** The parts of a tool result; structured content is shown only if there is no text. */
export function resultParts(result: unknown): Part[] {
  const { blocks, structure } = parseResult(result);
  const parts = partsOf(blocks);
  const hasText = parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  if (hasText || !structure) return parts;
  return [
    ...parts.filter((part) => part.kind !== 'text'),
    { kind: 'json', text: jsonDocument(structure.value) },
  ];
}
