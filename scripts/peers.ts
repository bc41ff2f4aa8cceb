import { existsSync, readFileSync } from 'node:fs';
import { ROOT, step } from './step.ts';

/** Installs the third-party peers of `interop/` unless the pinned versions are there. */
export function installPeers(): boolean {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}interop/package.json`, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const isThere = Object.entries(dependencies).every(([name, version]) => {
    const manifest = `${ROOT}interop/node_modules/${name}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  return isThere || step('install peers', 'npm', ['ci', '--no-audit', '--no-fund'], `${ROOT}interop`);
}
