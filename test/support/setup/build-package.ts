import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../../scripts/bundle.ts';
import { isBuildStale, isStale } from '../../../scripts/fresh-build.ts';
import { ROOT } from '../../../scripts/step.ts';
import { CLI, PACKAGE } from './built-package.ts';

/** Vitest calls this before any test: the executables are tested as they are published. */
export async function setup(): Promise<void> {
  if (!isStale(CLI)) return;
  rmSync(PACKAGE, { recursive: true, force: true });
  mkdirSync(PACKAGE, { recursive: true });
  for (const path of ['package.json', 'bin']) {
    cpSync(join(ROOT, path), join(PACKAGE, path), { recursive: true });
  }
  if (isBuildStale()) await bundle(join(PACKAGE, 'dist'));
  else cpSync(join(ROOT, 'dist'), join(PACKAGE, 'dist'), { recursive: true });
}
