type Environment = Readonly<Record<string, string | undefined>>;

/** What a server process gets of the host's environment: what programs need to run, and what its entry says. */
export function leastEnvironment(
  base: Environment,
  own: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = 'linux',
): Record<string, string> {
  const isWindows = platform === 'win32';
  // Windows does not tell `Path` from `PATH`: the entry's word for it must be the only one.
  const owned = new Set(isWindows ? Object.keys(own).map((name) => name.toUpperCase()) : []);
  const inherited = Object.entries(base).filter(([name, value]) => {
    // A shell's exported function is code, which a server would run.
    if (value === undefined || value.startsWith('()')) return false;
    if (!isWindows) return ON_POSIX.has(name) || name.startsWith('LC_');
    return ON_WINDOWS.has(name.toUpperCase()) && !owned.has(name.toUpperCase());
  });
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...own };
}

const ON_POSIX = new Set(['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']);

const ON_WINDOWS = new Set([
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LANG',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TZ',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
]);
