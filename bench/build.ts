import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, ROOT } from './lab.ts';

/** The package as it is published, in a directory of its own: whoever builds meanwhile changes nothing here. */
export type BuiltPackage = Disposable & { readonly directory: string };

export async function buildPackage(lab: Lab): Promise<BuiltPackage> {
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
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--outDir', join(directory, 'dist'), '--noCheck', '--declaration', 'false'];
    await lab.run([tsc, '-p', 'tsconfig.build.json', ...options], { cwd: ROOT });
    const words = 'pool/search/data';
    cpSync(join(ROOT, 'src', words), join(directory, 'dist', words), { recursive: true });
    return built;
  } catch (cause) {
    built[Symbol.dispose]();
    throw cause;
  }
}
