import { BYTES_PER_TOKEN, estimateTextTokens } from '../../base/text/display-text.ts';

/** How much of one result is sent to the model, in the unit in which the limit was given. */
export type ResultLimit = { readonly max: number; readonly unit: 'tokens' | 'characters' };

/** Default limit in tokens. */
export const DEFAULT_MAX_TOKENS = 25_000;
const MAX_CHARACTERS = 500_000;
/** Tokens of the largest image after the model API has scaled it. */
export const IMAGE_TOKENS = 1_600;

/** The limit of a tool's result: the one in its definition, up to a bound, or that of the session. */
export function resultLimit(
  meta: Readonly<Record<string, unknown>> | undefined,
  maxTokens: number,
): ResultLimit {
  const own = meta?.['anthropic/maxResultSizeChars'];
  return typeof own === 'number' && own > 0
    ? { max: Math.min(own, MAX_CHARACTERS), unit: 'characters' }
    : { max: maxTokens, unit: 'tokens' };
}

export function sizeOf(text: string, unit: ResultLimit['unit']): number {
  return unit === 'tokens' ? estimateTextTokens(text) : text.length;
}

/** The size of an image in the unit of the limit. */
export function imageCost(unit: ResultLimit['unit']): number {
  return unit === 'tokens' ? IMAGE_TOKENS : IMAGE_TOKENS * BYTES_PER_TOKEN;
}

/** How much of a text that is saved to a file is still shown. */
export function previewSize({ max, unit }: ResultLimit): number {
  return Math.min(unit === 'tokens' ? PREVIEW_TOKENS : PREVIEW_TOKENS * BYTES_PER_TOKEN, Math.floor(max / 2));
}

const PREVIEW_TOKENS = 500;

/** The beginning of a text, up to this size, in whole characters. */
export function headOf(text: string, size: number, unit: ResultLimit['unit']): string {
  if (unit === 'characters') return text.slice(0, size).replace(/[\uD800-\uDBFF]$/, '');
  const bytes = Buffer.from(text.slice(0, size * BYTES_PER_TOKEN));
  let end = Math.min(bytes.length, size * BYTES_PER_TOKEN);
  while (end < bytes.length && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

/** The end of a text, up to this size, in whole characters. */
export function tailOf(text: string, size: number, unit: ResultLimit['unit']): string {
  if (size <= 0) return '';
  if (unit === 'characters') return text.slice(-size).replace(/^[\uDC00-\uDFFF]/, '');
  const bytes = Buffer.from(text.slice(-size * BYTES_PER_TOKEN));
  let start = Math.max(0, bytes.length - size * BYTES_PER_TOKEN);
  while (isContinuation(bytes[start])) start++;
  return bytes.toString('utf8', start);
}

/** Whether a byte is a continuation byte of UTF-8. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
