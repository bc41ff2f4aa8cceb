/** The sets of client scenarios by name, with the flags of the suite. */
export const SETS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
  all: ['--suite', 'all'],
};

/** The sets of server scenarios. */
export const SERVER_SETS: Readonly<Record<string, readonly string[]>> = {
  'server-2025-11-25': ['--requirements', '2025-11-25'],
  'server-2026-07-28': ['--requirements', '2026-07-28'],
};

/** Why a server scenario is not counted: it tests an extension that tool servers do not declare. */
export function undeclaredExtension(scenario: string): string | undefined {
  const extension = Object.entries(EXTENSIONS).find(([prefix]) => scenario.startsWith(prefix))?.[1];
  return extension && `not counted: tool servers do not declare the extension ${extension}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'tasks-': 'io.modelcontextprotocol/tasks',
  'sep-2640-skills-': 'io.modelcontextprotocol/skills',
};
