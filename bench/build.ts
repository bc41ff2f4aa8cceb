import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../scripts/bundle.ts';
import { ROOT } from './lab.ts';

/** The package as it is published, in a directory of its own: a build meanwhile changes nothing here. */
export type BuiltPackage = Disposable & { readonly directory: string };

export async function buildPackage(): Promise<BuiltPackage> {
  // Under node_modules, so that it finds its dependencies as it does when installed.
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'toolplane-bench-'));
  const built = {
    directory,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
  try {
    copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
    await bundle(join(directory, 'dist'));
    await bundle(join(directory, 'internals'), ['bench/internals/*.ts']);
    return built;
  } catch (cause) {
    built[Symbol.dispose]();
    throw cause;
  }
}

/** The URL of a module of `bench/internals/`, as built in `packageDir`. */
export function internals(packageDir: string, name: 'config' | 'pool'): string {
  return pathToFileURL(join(packageDir, 'internals/bench/internals', `${name}.js`)).href;
}
