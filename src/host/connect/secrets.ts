import { redactText } from '../../base/redact.ts';

/** Below this a value is a word that may stand anywhere. */
const SHORTEST = 6;
const BRIEF = 300;
/** What is cut off is looked at too, up to here: a secret that is cut in two is not known for one any more. */
const LOOKED_AT = 5000;

/** What one server was entrusted with: whatever it says is shown without that. */
export class Secrets {
  readonly #known = new Set<string>();
  /** The longest first: one may be part of another. */
  #values: readonly string[] = [];

  constructor(values: Iterable<string> = []) {
    this.add(values);
  }

  add(values: Iterable<string>): void {
    for (const value of values) for (const form of formsOf(value)) this.#known.add(form);
    this.#values = [...this.#known].sort((a, b) => b.length - a.length);
  }

  /** Without these values and without what looks like a credential. */
  mask(text: string): string {
    let masked = text;
    for (const value of this.#values) masked = masked.replaceAll(value, '[redacted]');
    if (masked.includes('…')) masked = this.#maskCut(masked);
    return redactText(masked);
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

  /** A server's words as they fit into a message of ours: masked, on one line, not long. */
  brief(text: string): string {
    const line = this.mask(text.slice(0, LOOKED_AT)).replace(/\s+/g, ' ').trim();
    return line.length > BRIEF ? `${line.slice(0, BRIEF)}…` : line;
  }
}

/** The values of an entry that are nobody's business. */
export function secretsOf(entry: object): string[] {
  const { env, headers, authToken } = entry as Entrusted;
  return [...Object.values(env ?? {}), ...Object.values(headers ?? {}), authToken ?? ''];
}

type Entrusted = {
  env?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  authToken?: string;
};

/** As it is, line by line, without the scheme before it, and as JSON and URLs write it. */
function formsOf(value: string): string[] {
  if (typeof value !== 'string') return [];
  const scheme = /^[\w-]+\s+(\S+)$/.exec(value);
  const plain = [value, value.trim(), ...value.split(/\r?\n/), ...(scheme?.[1] ? [scheme[1]] : [])];
  const written = plain.flatMap((it) => [it, JSON.stringify(it).slice(1, -1), inUrl(it)]);
  return written.filter((it) => it.length >= SHORTEST);
}

function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
