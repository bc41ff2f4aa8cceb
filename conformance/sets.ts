/** The sets of scenarios by name, with the flags of the suite. */
export const SETS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
  all: ['--suite', 'all'],
};

/** Prefix of scenarios that need OAuth, which the host does not support yet: they are listed but not scored. */
export const AUTHORIZATION = 'auth/';
