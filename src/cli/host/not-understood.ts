/** What a person asked for cannot be done as it was said: exit code 2. Each line stands for itself. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}
