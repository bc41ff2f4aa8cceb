import { literalFinder } from '../../base/wildcard.ts';

/**
 * Replaces every occurrence, all of it literal. In a text with CRLF line ends a line end of `from` stands for either
 * kind, as numbered lines show no difference, and what is put in takes the kind of what it replaces.
 */
export function replaceText(
  text: string,
  from: string,
  to: string,
): { readonly text: string; readonly times: number } {
  if (!text.includes('\r\n') || /\r(?!\n)/.test(from)) {
    const parts = splitAt(text, from);
    return { text: parts.join(to), times: parts.length - 1 };
  }
  const usual = mostlyCrlf(text) ? '\r\n' : '\n';
  const kept = splitAt(text.replaceAll('\r\n', '\n'), from.replaceAll('\r\n', '\n'));
  let at = 0;
  const take = (normalized: string): string => {
    const start = at;
    for (let left = normalized.length; left > 0; left--) at += text.startsWith('\r\n', at) ? 2 : 1;
    return text.slice(start, at);
  };
  const parts: string[] = [];
  for (const [index, part] of kept.entries()) {
    if (index > 0) {
      const found = take(from.replaceAll('\r\n', '\n'));
      const lineEnd = found.includes('\r\n') ? '\r\n' : found.includes('\n') ? '\n' : usual;
      parts.push(to.replace(/\r?\n/g, () => lineEnd));
    }
    parts.push(take(part));
  }
  return { text: parts.join(''), times: kept.length - 1 };
}

/** `text.split(from)` in linear time. */
function splitAt(text: string, from: string): string[] {
  const find = literalFinder(from);
  const parts: string[] = [];
  let start = 0;
  for (let end = find(text, 0); end !== -1; end = find(text, end)) {
    parts.push(text.slice(start, end - from.length));
    start = end;
  }
  return [...parts, text.slice(start)];
}

function mostlyCrlf(text: string): boolean {
  const crlf = text.split('\r\n').length;
  return crlf * 2 > text.split('\n').length;
}
