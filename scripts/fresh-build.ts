import { existsSync, globSync, statSync } from 'node:fs';
import { ROOT, step } from './step.ts';

/** Builds `dist/` if it is missing or older than the sources. */
export function buildIfStale(): boolean {
  if (!isStale(`${ROOT}dist/entry/index.js`)) return true;
  return step('build', process.execPath, [`${ROOT}scripts/build.ts`]);
}

/** Whether a file of a build is missing or older than the sources. */
export function isStale(built: string): boolean {
  const sources = globSync(['src/**/*.{ts,txt}', 'scripts/*.ts', 'tsconfig*.json', 'package-lock.json'], {
    cwd: ROOT,
  });
  const changed = Math.max(...sources.map((file) => statSync(`${ROOT}${file}`).mtimeMs));
  return !existsSync(built) || statSync(built).mtimeMs <= changed;
}
