import { existsSync, readFileSync } from 'node:fs';
import { ROOT, step } from './step.ts';

/**
 * Installs the third-party peers of `interop/` unless the pinned versions are installed; returns whether they are installed now.
 * npm writes to stderr, because the callers print JSON on stdout.
 */
export function installPeers(): boolean {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}interop/package.json`, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const isThere = Object.entries(dependencies).every(([name, version]) => {
    const manifest = `${ROOT}interop/node_modules/${name}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (isThere) return true;
  const options = { cwd: `${ROOT}interop`, output: 'stderr' } as const;
  return step('install peers', 'npm', ['ci', '--no-audit', '--no-fund'], options);
}
