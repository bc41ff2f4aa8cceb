/** Names for definitions that nothing else has, each like what is wanted and legal in a pointer as it is. */
export class FreshNames {
  readonly #taken: Set<string>;
  /** Where to go on counting: names are never given back, so none below is free. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  next(wanted: string): string {
    const plain = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?=\d|$)/, 'schema');
    let count = this.#counts.get(plain) ?? 1;
    let name = count === 1 ? plain : `${plain}_${count}`;
    while (this.#taken.has(name)) name = `${plain}_${++count}`;
    this.#counts.set(plain, count);
    this.#taken.add(name);
    return name;
  }
}
