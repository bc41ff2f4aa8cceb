/** The sets of scenarios that are run, by the name they are told under, with the suite's own flags. */
export const SETS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
  all: ['--suite', 'all'],
};

/** Scenarios of this kind need OAuth, which the host does not have yet: they are listed and nothing else. */
export function isAuthorization(scenario: string): boolean {
  return scenario.startsWith('auth/');
}
