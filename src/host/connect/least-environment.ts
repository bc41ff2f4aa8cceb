/** What a server process gets of the host's environment: these names, and what its entry says. */
export function leastEnvironment(
  base: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = base[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(inherited), ...own };
}

const INHERITED = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL'] as const;
