import { existsSync, readFileSync } from 'node:fs';
import { ROOT, step } from './step.ts';

/**
 * Installs the third-party peers of a folder unless the pinned versions are installed; returns whether they are installed now.
 * npm writes to stderr, because the callers print JSON on stdout.
 */
export function installPeers(folder: 'interop' | 'interop/peers' = 'interop'): boolean {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(`${ROOT}${folder}/package.json`, 'utf8'),
  ) as Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>>;
  const isThere = Object.entries({ ...dependencies, ...devDependencies }).every(([name, pinned]) => {
    // `npm:zod@3.25.76` is an alias.
    const version = pinned.slice(pinned.lastIndexOf('@') + 1);
    const manifest = `${ROOT}${folder}/node_modules/${name}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (isThere) return true;
  const options = { cwd: `${ROOT}${folder}`, output: 'stderr' } as const;
  return step('install peers', 'npm', ['ci', '--no-audit', '--no-fund'], options);
}
