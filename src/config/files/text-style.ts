import type { JsonNode } from './read-tree.ts';

/** How a text is laid out, so that what is added looks as if its author had written it. */
export type TextStyle = {
  readonly lineEnd: string;
  /** One level of indentation; empty if the whole text stands on one line, and then nothing is broken into lines. */
  readonly indent: string;
  /** What stands after a colon, and after a comma within a line. */
  readonly gap: '' | ' ';
};

/** `root` is the object that the text holds, if it holds one. */
export function styleOf(text: string, root?: JsonNode): TextStyle {
  const lineEnd = /\r\n|\n/.exec(text)?.[0] ?? '\n';
  const [first] = root?.children ?? [];
  const isOneLine = first !== undefined && !/[\r\n]/.test(text.trim());
  const margin = first ? marginAt(text, first.offset) : '';
  const colon = first?.colon;
  return {
    lineEnd,
    indent: isOneLine ? '' : margin || '  ',
    gap: colon !== undefined && /\S/.test(text[colon + 1] ?? '') ? '' : ' ',
  };
}

/** The blanks that the line begins with on which the offset is. */
export function marginAt(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

/** The value as text: over several lines, each after the first indented by `margin`, or within one. */
export function valueText(
  value: unknown,
  style: TextStyle,
  place: { readonly margin: string } | 'in-line',
): string {
  if (place === 'in-line' || style.indent === '') return inLine(value, style.gap);
  return JSON.stringify(value, null, style.indent).replaceAll('\n', `${style.lineEnd}${place.margin}`);
}

function inLine(value: unknown, gap: string): string {
  if (Array.isArray(value)) return `[${value.map((it) => inLine(it, gap)).join(`,${gap}`)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, it]) => it !== undefined)
    .map(([key, it]) => `${JSON.stringify(key)}:${gap}${inLine(it, gap)}`);
  return members.length > 0 ? `{${gap}${members.join(`,${gap}`)}${gap}}` : '{}';
}
