import { spawnSync } from 'node:child_process';

/** Programs that some tests need and npm cannot install, by the Debian package that has them. */
const PACKAGES: Readonly<Record<string, string>> = { zsh: 'zsh', fish: 'fish' };

/** Installs what is missing, where that is allowed; else names it. Gives the packages that are still missing. */
export function installDebianPackages(): readonly string[] {
  const wanted = missing();
  if (wanted.length === 0) return [];
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    console.log(`\n── Debian packages: ${wanted.join(', ')}`);
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args: string[]) =>
      spawnSync('apt-get', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
    const install = () => apt('install', '-y', '--no-install-recommends', ...wanted);
    // The lists of packages may be missing, or too old.
    if (!install() && apt('update')) install();
  }
  const left = missing();
  if (left.length > 0) console.error(`not installed, so their tests are not run: ${left.join(', ')}`);
  return left;
}

function missing(): string[] {
  return Object.entries(PACKAGES).flatMap(([program, name]) => (isThere(program) ? [] : [name]));
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}
