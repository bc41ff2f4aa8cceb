import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Where a command was found, or why it cannot be run. */
export type OnPath =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing' }
  /** It is there, and nobody may run it. */
  | { readonly kind: 'not-executable'; readonly path: string };

/** Looks for a command as a process that is started does: by its path, or in each directory of `PATH`. */
export async function onPath(
  command: string,
  { path = '', cwd, platform }: { path?: string | undefined; cwd: string; platform: NodeJS.Platform },
): Promise<OnPath> {
  const hasWay = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  const places = hasWay
    ? [isAbsolute(command) ? command : resolve(cwd, command)]
    : path
        .split(delimiter)
        .filter((it) => it !== '')
        .map((directory) => join(directory, command));
  let unusable: string | undefined;
  for (const place of places.flatMap((it) => withEndings(it, platform))) {
    const state = await stateOf(place);
    if (state === 'executable') return { kind: 'found', path: place };
    if (state === 'file') unusable ??= place;
  }
  return unusable === undefined ? { kind: 'missing' } : { kind: 'not-executable', path: unusable };
}

function withEndings(place: string, platform: NodeJS.Platform): string[] {
  return platform === 'win32' ? [place, ...['.exe', '.cmd', '.bat'].map((end) => place + end)] : [place];
}

async function stateOf(path: string): Promise<'executable' | 'file' | 'nothing'> {
  try {
    if (!(await stat(path)).isFile()) return 'nothing';
  } catch {
    return 'nothing';
  }
  return access(path, constants.X_OK).then(
    () => 'executable',
    () => 'file',
  );
}
