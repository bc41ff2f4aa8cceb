import type { Lab } from './lab.ts';
import type { Row } from './row.ts';

/** How much work a run may be: `quick` for a first look, `full` for the counts the targets are written for. */
export type Effort = 'quick' | 'default' | 'full';

export type GroupContext = {
  readonly effort: Effort;
  readonly lab: Lab;
  /** Where the package was built: its `package.json` and `dist`. */
  readonly packageDir: string;
  /** A file of needs that the search is scored with, instead of the project's own. */
  readonly queries?: string | undefined;
  /** Told to whoever watches. */
  progress(text: string): void;
  /** Told to everybody, on stderr: a row that could not be measured. */
  note(text: string): void;
};

/** One subject of the benchmark; its file is in `groups/`. */
export type Group = (context: GroupContext) => Promise<Row[]>;
