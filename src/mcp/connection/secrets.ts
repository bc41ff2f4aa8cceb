import { isRecord } from '../../base/is-record.ts';
import { redactText } from '../../base/redact.ts';
import { credentialsOf, type Entrusted, isCommonValue } from './credentials.ts';
import { replaceEscaped } from './escapes.ts';

/** Below this a value is a word that may stand anywhere. */
const SHORTEST = 6;
/** Texts of fewer bytes are not looked for in base64. */
const SHORTEST_ENCODED = 9;
const BRIEF = 300;
/** What is cut off is looked at too, up to here: a secret that is cut in two is not known for one any more. */
const LOOKED_AT = 100_000;

/**
 * What one server was entrusted with. Diagnostics are shown without any of these values; messages of the protocol are
 * taken in without the credentials among them, in whatever form the server repeats them.
 */
export class Secrets {
  readonly #known = new Set<string>();
  /** The longest first: one may be part of another. */
  #values: readonly string[] = [];
  readonly #credentials = new Set<string>();
  #credentialForms: readonly string[] = [];
  #shortestForm = Number.POSITIVE_INFINITY;

  constructor(values: Iterable<string> = [], credentials: Iterable<string> = []) {
    this.add(values, credentials);
  }

  add(values: Iterable<string>, credentials: Iterable<string> = []): void {
    for (const value of values) for (const form of formsOf(value)) this.#known.add(form);
    for (const value of credentials) {
      if (typeof value !== 'string' || isCommonValue(value)) continue;
      for (const form of formsOf(value)) {
        if (isCommonValue(form)) continue;
        this.#known.add(form);
        for (const written of [form, ...base64Forms(form), ...hexForms(form)]) this.#credentials.add(written);
      }
    }
    this.#values = longestFirst(this.#known);
    this.#credentialForms = longestFirst(this.#credentials);
    this.#shortestForm = this.#credentialForms.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  }

  /** Everything an entry entrusts its server with. */
  addEntry(entry: object): void {
    this.add(secretsOf(entry), credentialsOf(entry as Entrusted));
  }

  /** Without these values and without what looks like a credential. */
  mask(text: string): string {
    let masked = this.maskCredentials(text);
    for (const value of this.#values) masked = masked.replaceAll(value, '[redacted]');
    if (masked.includes('…')) masked = this.#maskCut(masked);
    return redactText(masked);
  }

  /** Without credentials; every other text stays as it is. */
  maskCredentials(text: string): string {
    if (text.length < this.#shortestForm) return text;
    let masked = text;
    for (const form of this.#credentialForms) {
      if (masked.includes(form)) masked = masked.replaceAll(form, '[redacted]');
    }
    return replaceEscaped(masked, this.#credentialForms, '[redacted]');
  }

  /**
   * A JSON-RPC message of the server without credentials: the same object if it contains none. Its id, its method and
   * what is only ever handed back to the server stay as they are.
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

  /** The same value if nothing in it is masked. The depth of messages is bounded before this. */
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

  /** A key of letters alone is a word of the protocol or of a schema. */
  #maskKey(key: string): string {
    return key.length < this.#shortestForm || /^[A-Za-z]+$/.test(key) ? key : this.maskCredentials(key);
  }

  /** Of a text that somebody cut before, the end may be the beginning of a secret. */
  #maskCut(text: string): string {
    let masked = text;
    for (const value of this.#values) {
      for (let length = Math.min(value.length - 1, BRIEF); length >= SHORTEST; length--) {
        masked = masked.replaceAll(`${value.slice(0, length)}…`, '[redacted]…');
      }
    }
    return masked;
  }

  /** A server's words as they fit into a message of ours: masked, on one line, without control characters, not long. */
  brief(text: string): string {
    const line = this.mask(text.slice(0, LOOKED_AT))
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .replace(/\p{Cf}/gu, '')
      .trim();
    return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
  }
}

/** The values of an entry that are nobody's business. */
export function secretsOf(entry: object): string[] {
  const { env, headers, authToken } = entry as Entrusted;
  return [...Object.values(env ?? {}), ...Object.values(headers ?? {}), authToken ?? ''];
}

/** Members of `params` and `result` that are handed back to the server and shown to nobody. */
const OPAQUE_MEMBERS = ['progressToken', 'requestId', 'nextCursor', 'requestState'];

/** As it is, line by line, without the scheme before it, and as JSON, URLs and forms write it. */
function formsOf(value: string): string[] {
  if (typeof value !== 'string') return [];
  const scheme = /^[\w-]+\s+(\S+)$/.exec(value);
  const plain = [value, value.trim(), ...value.split(/\r?\n/), ...(scheme?.[1] ? [scheme[1]] : [])];
  const written = plain.flatMap((it) => [it, JSON.stringify(it).slice(1, -1), inUrl(it), inForm(it)]);
  return written.filter((it) => it.length >= SHORTEST);
}

/**
 * What base64 makes of a text, wherever in the encoded bytes it begins: the characters that depend on it alone. Shorter
 * texts leave too few of these.
 */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < SHORTEST_ENCODED) return [];
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
