/** An escape may be escaped once more, as JSON in a string of JSON is: a text is decoded this often. */
const MAX_LEVELS = 3;

/**
 * Replaces values in a text however programs escape them: for JSON (`\u002B`, `\/`), for a URL (`%2b`) or for HTML
 * (`&#43;`), also several times over. Everything else stays as it is written.
 */
export function replaceEscaped(text: string, values: readonly string[], replacement: string): string {
  const ranges: Range[] = [];
  const levels: Offsets[] = [];
  let decoded = text;
  while (levels.length < MAX_LEVELS) {
    const next = decodeOnce(decoded);
    if (next === undefined) break;
    decoded = next.text;
    levels.push(next.offsets);
    for (const value of values) {
      for (const at of placesOf(value, decoded)) {
        const [from, to] = [at, at + value.length].map((it) => levels.reduceRight(before, it));
        ranges.push({ from: from ?? 0, to: to ?? 0 });
      }
    }
  }
  return ranges.length === 0 ? text : replaceRanges(text, ranges, replacement);
}

type Range = { readonly from: number; readonly to: number };

/** Positions after each escape, in the decoded text and in the text before, in ascending order. */
type Offsets = { readonly decoded: readonly number[]; readonly escaped: readonly number[] };

const ESCAPE =
  /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-7][0-9a-f])|(%[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3})|&#x([0-9a-f]{1,4});|&#(\d{1,4});|&(amp|apos|gt|lt|quot);|\\([^\sa-z0-9])/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };

/** Undefined if there is no escape in it. */
function decodeOnce(text: string): { readonly text: string; readonly offsets: Offsets } | undefined {
  let result = '';
  let end = 0;
  const [decoded, escaped] = [[0], [0]];
  for (const match of text.matchAll(ESCAPE)) {
    result += text.slice(end, match.index) + characterOf(match);
    end = match.index + match[0].length;
    decoded.push(result.length);
    escaped.push(end);
  }
  return end === 0 ? undefined : { text: result + text.slice(end), offsets: { decoded, escaped } };
}

function characterOf(match: RegExpExecArray): string {
  const [, unicode, byte, percent, utf8, hex, decimal, entity, plain = ''] = match;
  const code = unicode ?? byte ?? percent ?? hex;
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (utf8 !== undefined) return Buffer.from(utf8.replaceAll('%', ''), 'hex').toString();
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return entity === undefined ? plain : (ENTITIES[entity.toLowerCase()] ?? '');
}

function* placesOf(value: string, text: string): Generator<number> {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) yield at;
}

/** The position in the text before it was decoded. */
function before(position: number, { decoded, escaped }: Offsets): number {
  let [low, high] = [0, decoded.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((decoded[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return (escaped[low] ?? 0) + position - (decoded[low] ?? 0);
}

/** Ranges may overlap. */
function replaceRanges(text: string, ranges: readonly Range[], replacement: string): string {
  let result = '';
  let end = 0;
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= end) result += text.slice(end, from) + replacement;
    end = Math.max(end, to);
  }
  return result + text.slice(end);
}
