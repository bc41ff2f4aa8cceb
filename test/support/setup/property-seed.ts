import fc from 'fast-check';

/** Property-based tests draw the same values in every run; `PROPERTY_SEED` selects others. */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });
