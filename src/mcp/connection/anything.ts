/** A schema that takes what comes: the official client rejects a whole answer for one bad part; whoever asked reads it. */
export const ANYTHING = {
  '~standard': {
    version: 1 as const,
    vendor: 'toolplane',
    validate: (value: unknown) => ({ value }),
  },
};
