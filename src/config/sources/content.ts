import type { Position } from '../model.ts';

/** What a file, a flag or a cache holds, wherever it was read. */
export type Content =
  | { readonly state: 'absent' }
  | { readonly state: 'unusable'; readonly fault: string; readonly position?: Position }
  | ReadContent;

export type ReadContent = {
  readonly state: 'read';
  readonly value: Readonly<Record<string, unknown>>;
  /** Nothing stands in it: somebody may be about to write it. */
  readonly isBlank?: true;
  /** What counts and may not be what was meant. */
  readonly warnings: readonly {
    readonly key: string;
    readonly message: string;
    readonly position: Position;
  }[];
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** A value that somebody else has parsed: there is no text, so nothing has a place. */
export function contentOfValue(value: Readonly<Record<string, unknown>>): ReadContent {
  return { state: 'read', value, warnings: [], locate: () => undefined };
}
