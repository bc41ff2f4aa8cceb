/** The headers an entry asks for on each request; those of its helper, if it has one, are asked for once and kept. */
export class EntryHeaders {
  readonly #fixed: Readonly<Record<string, string>>;
  readonly #help: ((signal: AbortSignal) => Promise<Record<string, string>>) | undefined;
  readonly #life = new AbortController();
  #current: Promise<Readonly<Record<string, string>>> | undefined;
  #known: Readonly<Record<string, string>> | undefined;

  constructor(
    fixed: Readonly<Record<string, string>> = {},
    help?: (signal: AbortSignal) => Promise<Record<string, string>>,
  ) {
    this.#fixed = lowered(fixed);
    this.#help = help;
    if (!help) this.#known = this.#fixed;
  }

  /** At once if they are known, which they are but for the first time; names are in lower case. */
  get(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#known ?? this.#current ?? this.#ask();
  }

  /** Others than those a server refused; undefined if there can be none. Who is refused meanwhile shares them. */
  async renew(
    refused: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    if (!this.#help) return undefined;
    if (this.#known === refused) this.#known = undefined;
    const renewed = await this.get();
    return isSame(renewed, refused) ? undefined : renewed;
  }

  /** Nobody needs them any more: resolves once the helper is gone, if it runs. */
  async close(): Promise<void> {
    this.#life.abort();
    await this.#current?.catch(() => {});
  }

  async #ask(): Promise<Readonly<Record<string, string>>> {
    const asking = (this.#help?.(this.#life.signal) ?? Promise.resolve({})).then((own) => ({
      ...this.#fixed,
      ...lowered(own),
    }));
    this.#current = asking;
    try {
      this.#known = await asking;
      return this.#known;
    } finally {
      this.#current = undefined;
    }
  }
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
