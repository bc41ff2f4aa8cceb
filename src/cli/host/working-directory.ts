import { realpathSync } from 'node:fs';
import { Failed } from './failure.ts';

/** Where this process works, free of links; throws one clear line if somebody removed the directory. */
export function workingDirectory(): string {
  try {
    return realpathSync.native(process.cwd());
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new Failed('the working directory is gone: cd to one that exists');
  }
}
