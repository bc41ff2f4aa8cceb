/** The sets of scenarios that are run, by the name they are told under, with the suite's own flags. */
export const SETS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
  all: ['--suite', 'all'],
};

/** Scenarios whose names begin so need OAuth, which the host does not have yet: they are listed and not judged. */
export const AUTHORIZATION = 'auth/';
