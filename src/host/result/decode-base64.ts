const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes, and the type where a `data:` URL names one. Line ends and the URL-safe alphabet pass; anything else is no base64. */
export function decodeBase64(
  given: string,
): { readonly bytes: Buffer; readonly mimeType?: string } | undefined {
  const text = given.trim();
  const url = text.startsWith('data:') ? DATA_URL.exec(text) : null;
  if (url && !/;base64$/i.test(url[2] ?? '')) return undefined;
  const digits = (url ? text.slice(url[0].length) : text)
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const isWhole = DIGITS.test(digits) && digits.replace(/=+$/, '').length % 4 !== 1;
  if (!isWhole) return undefined;
  return { bytes: Buffer.from(digits, 'base64'), ...(url?.[1] && { mimeType: url[1] }) };
}
