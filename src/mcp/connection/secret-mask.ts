import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { isCredentialName, redactText } from '../../base/text/redact.ts';

/** Minimum length of a masked value: shorter ones are often ordinary words, which may occur anywhere. */
const MIN_LENGTH = 6;
/** Minimum length of a value that is also masked in base64. */
const MIN_ENCODED_LENGTH = 9;
const BRIEF = 300;
/** Access tokens that are kept: the current one and those before it, which a late response may repeat. */
const MAX_TOKENS = 4;
/** Maximum length of a text that is masked before it is truncated, since half a secret would not be recognized. */
const MAX_SCANNED = 100_000;

/**
 * The secrets of one server. They are masked in all diagnostics; the credentials among them are also masked in protocol
 * messages, in whatever encoding the server repeats them.
 */
export class SecretMask {
  readonly #known = new Set<string>();
  /** Longest first, since one value may contain another. */
  #values: readonly string[] = [];
  readonly #credentials = new Set<string>();
  #tokens: readonly string[] = [];
  #credentialForms: readonly string[] = [];
  #minFormLength = Number.POSITIVE_INFINITY;

  constructor(values: Iterable<string> = [], credentials: Iterable<string> = []) {
    this.add(values, credentials);
  }

  add(values: Iterable<string>, credentials: Iterable<string> = []): void {
    for (const value of values) for (const form of formsOf(value)) this.#known.add(form);
    for (const value of credentials) {
      for (const form of credentialForms(value)) {
        this.#known.add(form);
        for (const written of encodedForms(form)) this.#credentials.add(written);
      }
    }
    this.#sort();
  }

  /** Adds an access token as a credential. Only the last ones are kept: a long connection uses many. */
  addToken(token: string): void {
    this.#tokens = [...this.#tokens.filter((it) => it !== token), token].slice(-MAX_TOKENS);
    this.#sort();
  }

  #sort(): void {
    const tokens = this.#tokens.flatMap(credentialForms);
    this.#values = longestFirst(new Set([...this.#known, ...tokens]));
    this.#credentialForms = longestFirst(new Set([...this.#credentials, ...tokens.flatMap(encodedForms)]));
    this.#minFormLength = this.#credentialForms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  }

  /** Adds all secrets of an entry. */
  addEntry(entry: object): void {
    this.add(secretsOf(entry), credentialsOf(entry as CredentialMembers));
  }

  /** Masks these values and everything that looks like a credential. */
  mask(text: string): string {
    let masked = this.maskCredentials(text);
    for (const value of this.#values) masked = masked.replaceAll(value, '[redacted]');
    if (masked.includes('…')) masked = this.#maskCut(masked);
    return redactText(masked);
  }

  /** Masks credentials only. */
  maskCredentials(text: string): string {
    if (text.length < this.#minFormLength) return text;
    let masked = text;
    for (const form of this.#credentialForms) {
      if (masked.includes(form)) masked = masked.replaceAll(form, '[redacted]');
    }
    return replaceEscaped(masked, this.#credentialForms, '[redacted]');
  }

  /**
   * Masks credentials in a message of the server; returns the same object if it contains none. Its id, its method and
   * opaque values that are returned to the server are unchanged.
   */
  maskMessage<T extends Record<string, unknown>>(message: T): T {
    if (this.#credentialForms.length === 0) return message;
    let masked: Record<string, unknown> = message;
    for (const part of ['params', 'result', 'error']) {
      const before = message[part];
      const after =
        isRecord(before) && !Array.isArray(before) ? this.#maskBody(before) : this.#maskValue(before);
      if (after === before) continue;
      if (masked === message) masked = { ...message };
      masked[part] = after;
    }
    return masked as T;
  }

  #maskBody(body: Record<string, unknown>): Record<string, unknown> {
    const masked = this.#maskValue(body) as Record<string, unknown>;
    if (masked === body) return body;
    for (const name of OPAQUE_MEMBERS) if (Object.hasOwn(body, name)) masked[name] = body[name];
    return masked;
  }

  /** Masks a value of a message, whose depth is already limited; the same value if it contains nothing to mask. */
  #maskValue(value: unknown): unknown {
    if (typeof value === 'string') return this.maskCredentials(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let masked: unknown[] | undefined;
      for (let at = 0; at < value.length; at++) {
        const member = this.#maskValue(value[at]);
        if (member === value[at]) continue;
        masked ??= [...value];
        masked[at] = member;
      }
      return masked ?? value;
    }
    let isSame = true;
    const members: [string, unknown][] = [];
    for (const key in value) {
      const before = (value as Record<string, unknown>)[key];
      const after = this.#maskValue(before);
      const name = this.#maskKey(key);
      if (after !== before || name !== key) isSame = false;
      members.push([name, after]);
    }
    return isSame ? value : Object.fromEntries(members);
  }

  /** Keys of letters only are not masked: they are assumed to be words of the protocol or of a schema. */
  #maskKey(key: string): string {
    return key.length < this.#minFormLength || /^[A-Za-z]+$/.test(key) ? key : this.maskCredentials(key);
  }

  /** Masks the beginning of a secret at the end of a truncated text. */
  #maskCut(text: string): string {
    let masked = text;
    for (const value of this.#values) {
      for (let length = Math.min(value.length - 1, BRIEF); length >= MIN_LENGTH; length--) {
        masked = masked.replaceAll(`${value.slice(0, length)}…`, '[redacted]…');
      }
    }
    return masked;
  }

  /** Text of a server for use in a message: masked, on one line, without control characters, truncated. */
  brief(text: string): string {
    const line = this.mask(text.slice(0, MAX_SCANNED))
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .replace(/\p{Cf}/gu, '')
      .trim();
    return truncate(line, BRIEF);
  }
}

/** The secret values of an entry. */
export function secretsOf(entry: object): string[] {
  const { env, headers, authToken } = entry as CredentialMembers;
  return [...Object.values(env ?? {}), ...Object.values(headers ?? {}), authToken ?? ''];
}

/** Members of `params` and `result` that are returned to the server and never displayed. */
const OPAQUE_MEMBERS = ['progressToken', 'requestId', 'nextCursor', 'requestState'];

/** The value itself, its lines, without an authentication scheme, and as escaped in JSON, URLs and forms. */
function formsOf(value: string): string[] {
  if (typeof value !== 'string') return [];
  const scheme = /^[\w-]+\s+(\S+)$/.exec(value);
  const plain = [value, value.trim(), ...value.split(/\r?\n/), ...(scheme?.[1] ? [scheme[1]] : [])];
  const written = plain.flatMap((it) => [it, JSON.stringify(it).slice(1, -1), inUrl(it), inForm(it)]);
  return written.filter((it) => it.length >= MIN_LENGTH);
}

/** The forms of a credential that are not too common to be masked everywhere. */
function credentialForms(value: string): string[] {
  if (typeof value !== 'string' || isCommonValue(value)) return [];
  return formsOf(value).filter((form) => !isCommonValue(form));
}

function encodedForms(form: string): string[] {
  return [form, ...base64Forms(form), ...hexForms(form)];
}

/**
 * The base64 of a text at each of the three possible byte offsets: only the characters that depend on the text alone,
 * which are too few for short texts.
 */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < MIN_ENCODED_LENGTH) return [];
  const standard = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const isCut = (offset + bytes.length) % 3 !== 0;
    return encoded.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined);
  });
  return standard.flatMap((it) => [it, it.replaceAll('+', '-').replaceAll('/', '_')]);
}

function hexForms(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

function longestFirst(texts: Iterable<string>): string[] {
  return [...texts].sort((a, b) => b.length - a.length);
}

function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function inForm(text: string): string {
  return new URLSearchParams({ '': text.toWellFormed() }).toString().slice(1);
}

/** The members of a server entry that may hold credentials. */
type CredentialMembers = {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authToken?: string;
  readonly url?: string;
  readonly args?: readonly string[];
};

/**
 * The values of an entry that are credentials: by the name they are given under, or by their shape. Settings such as
 * a mode, a directory or a host name are not: a server may use these words in any message.
 */
export function credentialsOf({ env, headers, authToken, url, args }: CredentialMembers): string[] {
  const named = [...Object.entries(env ?? {}), ...Object.entries(headers ?? {})];
  return [
    ...(typeof authToken === 'string' ? [authToken] : []),
    ...named.flatMap(([name, value]) => credentialsIn(name, value)),
    ...(url === undefined ? [] : credentialsIn('url', url)),
    ...credentialsOfArgs(args ?? []),
  ];
}

/** Whether a value is too common to be masked in everything a server sends: default passwords, words of the protocol. */
function isCommonValue(value: string): boolean {
  return /^\d{1,9}$/.test(value) || COMMON_VALUES.has(value.toLowerCase());
}

/** The credentials in one named value: all of it, what a URL carries, or what Basic authentication encodes. */
function credentialsIn(name: string, value: unknown): string[] {
  if (typeof value !== 'string') return [];
  const basic = /^Basic\s+([\w+/=-]+)$/i.exec(value.trim())?.[1];
  const decoded = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
  const isWhole = isRandom(value) ? !IDENTIFIER_NAME.test(name) : isNamedCredential(name, value);
  return [
    ...(isWhole || redactText(value) !== value ? [value] : []),
    ...credentialsInUrl(value),
    ...(decoded.includes(':') ? [decoded, decoded.slice(decoded.indexOf(':') + 1)] : []),
  ];
}

/** Whether a value is a credential by the name of its variable, header or flag. */
export function isNamedCredential(name: string, value: string): boolean {
  return isCredentialName(name) && !SETTING_NAME.test(name) && !PATH.test(value) && !value.includes('://');
}

/** `--token value`, `--token=value`, `-e TOKEN=value`, `--header "Authorization: value"`. */
function credentialsOfArgs(args: readonly unknown[]): string[] {
  return args.flatMap((arg, at) => {
    if (typeof arg !== 'string') return [];
    const pair = /^-{0,2}([\w.-]+)(?:=|:\s+)(.+)$/s.exec(arg);
    if (pair) return credentialsIn(pair[1] ?? '', pair[2]);
    const before: unknown = args[at - 1];
    const flag = typeof before === 'string' ? /^--?([\w.-]+)$/.exec(before)?.[1] : undefined;
    return arg.startsWith('-') ? [] : credentialsIn(flag ?? '', arg);
  });
}

/** The password of a URL, a key in place of its user, and the parameters that are named as credentials. */
function credentialsInUrl(text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(
    ([name, value]) => isRandom(value) || isNamedCredential(name, value),
  );
  const key = isRandom(username) ? [username] : [];
  return [...key, password, decoded(password), ...parameters.map(([, value]) => value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a value contains a long run of mixed characters, as only generated keys do; model names and dates do not. */
function isRandom(value: string): boolean {
  return value
    .split(/[^A-Za-z0-9+=]/)
    .some(
      (run) =>
        (run.length >= 24 && /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run)) ||
        (run.length >= 32 && /^[0-9a-f]+$/i.test(run)),
    );
}

/** Names that mention a credential but hold a setting: `TOKEN_FILE`, `AUTH_MODE`, `PRIMARY_KEY`. */
const SETTING_NAME =
  /(^|[-_.])(file|filename|path|dir|directory|ur[li]|endpoint|host|port|mode|type|method|sock|socket|source|name|level|ttl|length|limit|count|scopes?|region|provider|algorithm|format|prefix|suffix|realm|user|username|audience|issuer|enabled|required|header|field|column|timeout|expiry)$|(^|[-_.])(primary|foreign|sort|partition|group)[-_.]?key$/i;

/** Names of random values that are public. */
const IDENTIFIER_NAME = /(^|[-_.])(id|uuid|sha\d*|hash|commit|digest|revision|version|path|dir)$/i;

const PATH = /^(?:\.{0,2}|~)\/[^+=\s]*$|^[A-Za-z]:[\\/]/;

const COMMON_VALUES: ReadonlySet<string> = new Set(
  [
    'changeme default disabled enabled example optional password postgres required secret secrets test testing',
    'administrator anonymous development guest localhost minioadmin mongodb production rabbitmq redis root',
    'bearer oauth oauth2 api_key apikey api-key token tokens',
    'array boolean content description initialize integer message method number object params properties result string',
  ]
    .join(' ')
    .split(' '),
);

/** Escapes may be nested, such as JSON in a JSON string; a text is decoded this often. */
const MAX_LEVELS = 3;

/**
 * Replaces values in a text even if they are escaped: for JSON (`\u002B`, `\/`), URLs (`%2b`) or HTML (`&#43;`), also
 * repeatedly. All other text is unchanged.
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
