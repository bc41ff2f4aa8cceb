const DATA_URL = /^data:([^,;]*)[^,]*;base64,/i;
/** What comes before the data: a type and a parameter or two. */
const LONGEST_HEAD = 200;
const DIGITS = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes, and the type where a `data:` URL names one. Line ends and the URL-safe alphabet pass; anything else is no base64. */
export function decodeBase64(
  given: string,
): { readonly bytes: Buffer; readonly mimeType?: string } | undefined {
  const text = given.trim();
  const url = DATA_URL.exec(text.slice(0, LONGEST_HEAD));
  const digits = (url ? text.slice(url[0].length) : text)
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const isWhole = DIGITS.test(digits) && digits.replace(/=+$/, '').length % 4 !== 1;
  if (!isWhole) return undefined;
  return { bytes: Buffer.from(digits, 'base64'), ...(url?.[1] && { mimeType: url[1] }) };
}
