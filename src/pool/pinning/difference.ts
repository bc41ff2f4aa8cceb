import { sliceText, truncate } from '../../base/text/display-text.ts';
import { showHidden } from './hidden-text.ts';

/** One difference between two definitions of a tool. */
export type Difference = {
  /** `description`, `annotations.readOnlyHint`, `parameters.filter.owner`, `result.id`, `_meta.anthropic/…`; `…` for the rest. */
  readonly part: string;
  /** How much the change can affect a call: `high` for text that the model follows and fields that rules use. */
  readonly severity: 'high' | 'medium' | 'low';
  /** One line of text; hidden characters are made visible. */
  readonly text: string;
  /** The number of differences that are summarized, if more than one. */
  readonly count?: number;
};

const MOST_SAID = 6;

/** The differences on one line; the gravest are said, the rest are counted. */
export function formatDifferences(all: readonly Difference[]): string {
  const said = all.slice(0, MOST_SAID).map(({ text }) => text);
  const more = all.slice(MOST_SAID).reduce((sum, { count = 1 }) => sum + count, 0);
  return [...said, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A value in few words; `nothing` stands for one that is not there. */
export function formatValue(value: unknown, nothing: string): string {
  return value === undefined ? nothing : excerpt(JSON.stringify(value));
}

/** One line of bounded length, made without looking at what is cut off. */
export function excerpt(text: string, most = 80): string {
  const head = sliceText(text, most * 4);
  const line = showHidden(head);
  return line.length > most || head.length < text.length ? `${sliceText(line, most)}…` : line;
}

/** The way to a member, no longer than people read: what lies deeper stands under its beginning. */
export function memberPath(path: string, name: string, joint = '.'): string {
  if (path.length > MOST_OF_PATH) return path;
  const word = truncate(name, MOST_OF_PATH);
  return path === '' && joint === '.' ? word : `${path}${joint}${word}`;
}

const MOST_OF_PATH = 200;
