import type { Lab } from './lab.ts';
import type { Row } from './row.ts';

/** The amount of work: `quick` for a first look, `full` for the counts that the targets assume. */
export type Effort = 'quick' | 'default' | 'full';

export type GroupContext = {
  readonly effort: Effort;
  readonly lab: Lab;
  /** The directory of the built package, with `package.json` and `dist`. */
  readonly packageDir: string;
  /** A file of queries for the search benchmark, instead of the project's own. */
  readonly queries?: string | undefined;
  /** Prints progress to stderr, except with `--json`. */
  progress(text: string): void;
  /** Prints to stderr, also with `--json`: a row that could not be measured. */
  note(text: string): void;
};

/** One group of benchmarks; its file is in `groups/`. */
export type Group = (context: GroupContext) => Promise<Row[]>;
