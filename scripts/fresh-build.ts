import { existsSync, globSync, statSync } from 'node:fs';
import { ROOT, step } from './step.ts';

/** Builds `dist/` if it is missing or older than the sources. */
export function buildIfStale(): boolean {
  const built = `${ROOT}dist/entry/index.js`;
  const sources = globSync(['src/**/*.{ts,txt}', 'scripts/*.ts', 'tsconfig*.json', 'package-lock.json'], {
    cwd: ROOT,
  });
  const changed = Math.max(...sources.map((file) => statSync(`${ROOT}${file}`).mtimeMs));
  if (existsSync(built) && statSync(built).mtimeMs > changed) return true;
  return step('build', process.execPath, [`${ROOT}scripts/build.ts`]);
}
