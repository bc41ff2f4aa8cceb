/**
 * Replaces every occurrence, all of it literal. In a text with CRLF line ends a line end of `from` stands for either
 * kind, as numbered lines show no difference, and what is put in takes the kind of what it replaces.
 */
export function replaceText(
  text: string,
  from: string,
  to: string,
): { readonly text: string; readonly times: number } {
  if (!text.includes('\r\n')) {
    const parts = text.split(from);
    return { text: parts.join(to), times: parts.length - 1 };
  }
  const usual = mostlyCrlf(text) ? '\r\n' : '\n';
  let times = 0;
  const replaced = text.replace(literal(from), (found) => {
    times += 1;
    const lineEnd = found.includes('\r\n') ? '\r\n' : found.includes('\n') ? '\n' : usual;
    return to.replace(/\r?\n/g, () => lineEnd);
  });
  return { text: replaced, times };
}

function mostlyCrlf(text: string): boolean {
  const crlf = text.split('\r\n').length;
  return crlf * 2 > text.split('\n').length;
}

function literal(text: string): RegExp {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&'));
  return new RegExp(lines.join('\\r?\\n'), 'g');
}
