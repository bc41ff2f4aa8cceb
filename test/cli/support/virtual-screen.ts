/** Interprets the sequences that the chat writes, as a terminal does; other sequences are an error. */
export class VirtualScreen {
  readonly #rows: string[][] = [[]];
  readonly #columns: number;
  #row = 0;
  #column = 0;
  /** The number of rows that the terminal shows; rows that have scrolled out cannot be changed. */
  readonly #height: number;
  isCursorShown = true;
  bells = 0;
  notices = 0;

  constructor(columns: number, height = Number.POSITIVE_INFINITY) {
    this.#columns = columns;
    this.#height = height;
  }

  /** All rows, with those that have scrolled out of the terminal. */
  get text(): string {
    return this.#rows
      .map((row) => row.join('').trimEnd())
      .join('\n')
      .trimEnd();
  }

  get cursor(): { readonly row: number; readonly column: number } {
    return { row: this.#row, column: this.#column };
  }

  write(output: string): this {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of terminals.
    const TOKEN = /\u001b\[([?\d;]*)([A-Za-z])|\u001b\]9;[^\u0007]*\u0007|[\u0000-\u001f]|./gsu;
    for (const [token, parameters = '', command] of output.matchAll(TOKEN)) {
      if (command !== undefined) this.#run(command, parameters);
      else if (token.startsWith('\u001b]')) this.notices += 1;
      else if (token === '\n') this.#newLine();
      else if (token === '\r') this.#column = 0;
      else if (token === '\u0007') this.bells += 1;
      else if (token === '\u001b') throw new Error('an unknown escape sequence');
      else this.#print(token);
    }
    return this;
  }

  #print(character: string): void {
    if (this.#column >= this.#columns) this.#newLine();
    const row = this.#rows[this.#row] as string[];
    while (row.length < this.#column) row.push(' ');
    row[this.#column] = character;
    this.#column += 1;
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    if (this.#row >= this.#rows.length) this.#rows.push([]);
  }

  #run(command: string, parameters: string): void {
    const count = Number(parameters || '1');
    const top = Math.max(0, this.#rows.length - this.#height);
    switch (command) {
      case 'A':
        this.#row = Math.max(top, this.#row - count);
        return;
      case 'C':
        this.#column = Math.min(this.#columns - 1, this.#column + count);
        return;
      case 'H':
        this.#row = top;
        this.#column = 0;
        return;
      case 'J':
        if (parameters === '2') this.#rows.length = top + 1;
        else this.#rows.length = this.#row + 1;
        this.#rows[this.#row]?.splice(parameters === '2' ? 0 : this.#column);
        return;
      case 'K':
        this.#rows[this.#row]?.splice(parameters === '2' ? 0 : this.#column);
        return;
      case 'h':
      case 'l':
        if (parameters === '?25') this.isCursorShown = command === 'h';
        else if (parameters !== '?2026' && parameters !== '?2004')
          throw new Error(`unknown mode ${parameters}`);
        return;
      case 'm':
        return;
      default:
        throw new Error(`unknown sequence ${parameters}${command}`);
    }
  }
}
