/** In characters, of which each may take three bytes: `Read` takes files up to 32 MB. */
const LONGEST_PART = 10_000_000;

/** A text in parts of a length that can be read, which together are the text: at line ends where there are any. */
export function splitText(text: string, longest = LONGEST_PART): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > longest) {
    const end = text.lastIndexOf('\n', at + longest - 1) + 1;
    const isPair = /[\uD800-\uDBFF]/.test(text[at + longest - 1] as string);
    const next = end > at ? end : at + longest - (isPair && longest > 1 ? 1 : 0);
    parts.push(text.slice(at, next));
    at = next;
  }
  return [...parts, text.slice(at)];
}
