/** A part of a string with references to variables and secrets. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `otherwise` is used if the variable is unset or empty. */
  | { readonly kind: 'variable'; readonly name: string; readonly otherwise?: readonly Part[] }
  | { readonly kind: 'secret'; readonly name: string };

/** The parts, or the problem and its character, counted from 1. The fault contains nothing of the text: it may be secret. */
export type Template =
  | { readonly kind: 'parts'; readonly parts: readonly Part[] }
  | { readonly kind: 'faulty'; readonly fault: string; readonly at: number };

/**
 * Parses `${VAR}`, `${VAR:-default}`, `${secret:name}`, and `$${` for a literal `${`; everything else is text. A default may
 * contain references, and braces in pairs: `${OPTIONS:-{"a":1}}`.
 */
export function parseTemplate(text: string): Template {
  const reader = { text, at: 0 };
  try {
    return { kind: 'parts', parts: readParts(reader, 0) };
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) throw thrown;
    return { kind: 'faulty', fault: thrown.message, at: thrown.at + 1 };
  }
}

/** Escapes a text so that it is used literally. */
export function literalText(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Maximum nesting of defaults. */
const MAX_DEPTH = 10;

type Reader = { readonly text: string; at: number };

class Malformed extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Reads to the end of the text or, within a default, to its closing brace. */
function readParts(reader: Reader, depth: number): Part[] {
  const { text } = reader;
  const parts: Part[] = [];
  let plain = '';
  let open = 0;
  const flush = () => {
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
  };
  while (reader.at < text.length) {
    if (text.startsWith('$${', reader.at)) {
      plain += '${';
      reader.at += 3;
      open++;
    } else if (text.startsWith('${', reader.at)) {
      flush();
      parts.push(readReference(reader, depth + 1));
    } else {
      const character = text[reader.at] as string;
      if (depth > 0 && character === '}' && open === 0) break;
      if (character === '{') open++;
      if (character === '}') open = Math.max(0, open - 1);
      plain += character;
      reader.at++;
    }
  }
  flush();
  return parts;
}

/** Reads one `${…}`, starting at its `$`. */
function readReference(reader: Reader, depth: number): Part {
  const { text, at: start } = reader;
  if (depth > MAX_DEPTH) throw new Malformed(`has defaults nested more than ${MAX_DEPTH} deep`, start);
  reader.at += 2;
  const secret = take(reader, /secret:([A-Za-z0-9_.-]{1,128})/y);
  const name = secret ?? take(reader, /([A-Za-z_][A-Za-z0-9_]*)/y);
  if (name !== undefined && text[reader.at] === '}') {
    reader.at++;
    return { kind: secret === undefined ? 'variable' : 'secret', name };
  }
  if (name === undefined || secret !== undefined || !text.startsWith(':-', reader.at)) {
    throw new Malformed(faultAt(text, start, reader.at), start);
  }
  reader.at += 2;
  const otherwise = readParts(reader, depth);
  if (text[reader.at] !== '}') throw new Malformed('has a "${" without "}"', start);
  reader.at++;
  return { kind: 'variable', name, otherwise };
}

function take(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found) reader.at += found[0].length;
  return found?.[1];
}

function faultAt(text: string, start: number, at: number): string {
  if (at >= text.length) return 'has a "${" without "}"';
  if (text.startsWith('${secret:', start)) {
    return 'has an invalid reference to a secret; write ${secret:name}, with letters, digits, "_", "." and "-" in the name';
  }
  if (text.startsWith('${env:', start))
    return 'has a variable in the syntax of other programs, ${env:VAR}; write ${VAR}';
  return 'has an invalid "${"; write ${VAR}, ${VAR:-default} or ${secret:name}, and $${ for a literal ${';
}
