import { isAbsolute, relative, sep } from 'node:path';
import { redactText } from '../../base/redact.ts';
import { visibleText } from '../../base/visible-text.ts';
import type { ConfigWorld } from '../world.ts';

/** A path of the person's or of the machine's, with `~` for their home. */
export function homeLabel(path: string, { userHome }: Pick<ConfigWorld, 'userHome'>): string {
  const way = relative(userHome, path);
  return visibleText(way === '' || isOutside(way) ? path : `~${sep}${way}`);
}

/** A path of the project's, as it is seen from where people work. */
export function projectLabel(path: string, { cwd }: Pick<ConfigWorld, 'cwd'>): string {
  const way = relative(cwd, path);
  return visibleText(isAbsolute(way) ? path : way);
}

/** A path of anybody's: as it is seen from where people work, if it is in there, else as `homeLabel` has it. */
export function pathLabel(path: string, world: Pick<ConfigWorld, 'cwd' | 'userHome'>): string {
  const way = relative(world.cwd, path);
  return way === '' || isOutside(way) ? homeLabel(path, world) : visibleText(way);
}

/** A file that a flag names. What is no path may be anything, a secret too, and is not shown. */
export function flagLabel(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}

/** An address without the parts that credentials are put into. */
export function addressLabel(url: string): string {
  const { origin, pathname } = new URL(url);
  return redactText(`${origin}${pathname}`);
}

/** The way out of a directory, or to another drive. */
export function isOutside(way: string): boolean {
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
