import { shown } from './shown.ts';

/** What became of one part of a tool's definition. */
export type Difference = {
  /** `description`, `annotations.readOnlyHint`, `parameters.filter.owner`, `result.id`, `_meta.anthropic/…`. */
  readonly part: string;
  /** How much it can change what a call does: `high` for what a model obeys or rules believe. */
  readonly severity: 'high' | 'medium' | 'low';
  /** One line for people; what is hidden in it is shown. */
  readonly text: string;
};

const MOST_SAID = 6;

/** The differences on one line; the gravest are said, the rest are counted. */
export function sayDifference(all: readonly Difference[]): string {
  const said = all.slice(0, MOST_SAID).map(({ text }) => text);
  const more = all.length - said.length;
  return [...said, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A value in few words; `nothing` stands for one that is not there. */
export function plain(value: unknown, nothing: string): string {
  return value === undefined ? nothing : cut(JSON.stringify(value));
}

/** One line of bounded length. */
export function cut(text: string, most = 80): string {
  const line = shown(text);
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
