import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../scripts/bundle.ts';
import { ROOT } from './lab.ts';

/** The package as published, in its own directory: a concurrent build does not affect it. */
export type BuiltPackage = Disposable & { readonly directory: string };

export async function buildPackage(): Promise<BuiltPackage> {
  // Below node_modules, so that dependencies are resolved as in an installed package.
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
export function internals(packageDir: string, name: 'agent' | 'config' | 'pool'): string {
  return pathToFileURL(join(packageDir, 'internals/bench/internals', `${name}.js`)).href;
}
