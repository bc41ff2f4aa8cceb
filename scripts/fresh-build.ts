import { existsSync, globSync, statSync } from 'node:fs';
import { ROOT, type StepOptions, step } from './step.ts';

/** Builds `dist/` if it is missing or older than the sources. */
export function buildIfStale(options: StepOptions = {}): boolean {
  if (!isBuildStale()) return true;
  return step('build', process.execPath, [`${ROOT}scripts/build.ts`], options);
}

/** Whether `dist/` is missing or older than the sources. */
export function isBuildStale(): boolean {
  return isStale(`${ROOT}dist/entry/index.js`);
}

/** Whether a file of a build is missing or older than the sources. */
export function isStale(built: string): boolean {
  const inputs = ['src/**/*.{ts,txt}', 'scripts/*.ts', 'tsconfig*.json', 'package.json', 'package-lock.json'];
  const sources = globSync(inputs, { cwd: ROOT });
  const changed = Math.max(...sources.map((file) => statSync(`${ROOT}${file}`).mtimeMs));
  return !existsSync(built) || statSync(built).mtimeMs <= changed;
}
