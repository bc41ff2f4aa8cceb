import { readFileSync } from 'node:fs';
import { messageOf, SdkError, type SdkErrorCode } from '../../protocol/sdk-error.ts';

/** What a flag was given: the JSON of a file, or JSON itself, and how to call it in a message. */
type JsonFlag = { readonly value: unknown; readonly where: string };

/** Reads a flag that takes the path of a JSON file or the text of an object. */
export function readJsonFlag(flag: string, given: string, code: SdkErrorCode): JsonFlag {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? flag : `${flag} ${given}`;
  // Editors on Windows begin a file with a byte order mark.
  const text = (isText ? given : read(given, where, code)).replace(/^\ufeff/, '');
  const fault = jsonFault(text);
  if (fault !== undefined) throw new SdkError(code, `${where} is no JSON: ${fault}`);
  return { value: JSON.parse(text), where };
}

function read(path: string, where: string, code: SdkErrorCode): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SdkError(code, `${where} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
/** What keeps a text from being JSON; undefined if it is. It tells where, and nothing the text holds, which may be secret. */
export function jsonFault(text: string): string | undefined {
  const at = faultAt(text);
  if (at === undefined) return undefined;
  if (at >= text.length) return 'it ends too early';
  const lines = text.slice(0, at).split(/\r\n|[\n\r]/);
  return `see line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`;
}

/** What may come next; `first` is where a list or an object may also be over at once. */
type Need = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more';

const BLANK: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);
const WORDS = ['true', 'false', 'null'] as const;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Where the first character stands that cannot be there. */
function faultAt(text: string): number | undefined {
  const open: ('}' | ']')[] = [];
  let need: Need = 'value';
  let at = 0;
  for (;;) {
    while (BLANK.has(text[at])) at++;
    const sign = text[at];
    const close = open.at(-1);
    if (sign === undefined) return need === 'more' && close === undefined ? undefined : at;
    if (sign === close && (need === 'more' || need === (close === '}' ? 'first key' : 'first value'))) {
      open.pop();
      need = 'more';
      at++;
    } else if (need === 'more') {
      if (sign !== ',' || close === undefined) return at;
      need = close === '}' ? 'key' : 'value';
      at++;
    } else if (need === 'colon') {
      if (sign !== ':') return at;
      need = 'value';
      at++;
    } else if (sign === '{' || sign === '[') {
      if (isKey(need)) return at;
      open.push(sign === '{' ? '}' : ']');
      need = sign === '{' ? 'first key' : 'first value';
      at++;
    } else {
      if (isKey(need) && sign !== '"') return at;
      const scalar = sign === '"' ? readString(text, at) : readWord(text, at);
      if (scalar.kind === 'fault') return scalar.at;
      need = isKey(need) ? 'colon' : 'more';
      at = scalar.at;
    }
  }
}

function isKey(need: Need): boolean {
  return need === 'key' || need === 'first key';
}

/** Where a token is over, or where it cannot go on. */
type Scanned = { readonly kind: 'end' | 'fault'; readonly at: number };

function readString(text: string, start: number): Scanned {
  let at = start + 1;
  for (;;) {
    const sign = text[at];
    if (sign === '"') return { kind: 'end', at: at + 1 };
    if (sign === undefined || sign < ' ') return { kind: 'fault', at };
    at++;
    if (sign !== '\\') continue;
    const escaped = text[at];
    if (escaped === undefined || !'"\\/bfnrtu'.includes(escaped)) return { kind: 'fault', at };
    at++;
    for (let digits = 0; escaped === 'u' && digits < 4; digits++, at++) {
      if (!/^[0-9a-fA-F]$/.test(text[at] ?? '')) return { kind: 'fault', at };
    }
  }
}

function readWord(text: string, start: number): Scanned {
  NUMBER.lastIndex = start;
  if (NUMBER.test(text)) return { kind: 'end', at: NUMBER.lastIndex };
  if (text[start] === '-') return { kind: 'fault', at: start + 1 };
  const word = WORDS.find((it) => it[0] === text[start]);
  if (word === undefined) return { kind: 'fault', at: start };
  const same = [...word].findIndex((sign, step) => sign !== text[start + step]);
  return same < 0 ? { kind: 'end', at: start + word.length } : { kind: 'fault', at: start + same };
}
