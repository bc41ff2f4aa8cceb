/** What may still be spent on saying how definitions differ, of one tool or of a whole list; it goes down as it is used. */
export type Effort = {
  /** Pairs of words that may be compared; texts beyond are told as one piece. */
  cells: number;
  /** Differences and findings that may be put in words; those beyond are counted, or only known to be there. */
  texts: number;
};

/** Enough for the largest change a person reads; together some tenths of a second. */
export function fullEffort(): Effort {
  return { cells: 5_000_000, texts: 20_000 };
}

/** The part of it that one tool may use, so that one does not use all. */
export const MOST_CELLS_A_TOOL = 1_000_000;
