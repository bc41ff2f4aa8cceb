/** Numbers for terms, and how many tools have each; numbers of terms nobody has any more are given again. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  readonly #terms: (string | undefined)[] = [];
  readonly #counts: number[] = [];
  readonly #free: number[] = [];

  numberOf(term: string): number | undefined {
    return this.#numbers.get(term);
  }

  /** Counts one more tool that has the term. */
  take(term: string): number {
    let number = this.#numbers.get(term);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#terms.length;
      this.#numbers.set(term, number);
      this.#terms[number] = term;
      this.#counts[number] = 0;
    }
    this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    return number;
  }

  /** Counts one tool less. */
  release(number: number): void {
    const left = (this.#counts[number] ?? 0) - 1;
    this.#counts[number] = left;
    const term = this.#terms[number];
    if (left > 0 || term === undefined) return;
    this.#numbers.delete(term);
    this.#terms[number] = undefined;
    this.#free.push(number);
  }

  /** By number: how many tools have the term. */
  counts(): readonly number[] {
    return this.#counts;
  }
}
