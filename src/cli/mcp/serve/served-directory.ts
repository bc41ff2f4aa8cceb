import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { NotUnderstood } from '../../host/not-understood.ts';

/** The directory files are kept to, free of links; one that nobody can have meant ends the command with 2. */
export function servedDirectory(around: {
  readonly given?: string | undefined;
  readonly cwd: string;
  readonly home: string;
}): string {
  const { given, cwd, home } = around;
  const directory = realDirectory(resolve(cwd, given ?? '.'));
  if (directory === undefined) throw new NotUnderstood(`--cwd ${given ?? cwd} is no directory`);
  if (given !== undefined) return directory;
  const isRoot = dirname(directory) === directory;
  if (!isRoot && directory !== realDirectory(home)) return directory;
  const what = isRoot ? 'the root of the file system' : 'your home';
  throw new NotUnderstood(`it was started in ${what}: name the directory to serve with --cwd <directory>`);
}

function realDirectory(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
