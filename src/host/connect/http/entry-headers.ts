/** The headers an entry asks for on each request; those of its helper, if it has one, are asked for once and kept. */
export class EntryHeaders {
  readonly #fixed: Readonly<Record<string, string>>;
  readonly #help: (() => Promise<Record<string, string>>) | undefined;
  #current: Promise<Readonly<Record<string, string>>> | undefined;
  #known: Readonly<Record<string, string>> | undefined;

  constructor(fixed: Readonly<Record<string, string>> = {}, help?: () => Promise<Record<string, string>>) {
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
    return this.get();
  }

  async #ask(): Promise<Readonly<Record<string, string>>> {
    const asking = (this.#help?.() ?? Promise.resolve({})).then((own) => ({
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

function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
