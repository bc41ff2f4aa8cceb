import { spawnSync } from 'node:child_process';

/** Programs that some tests need and npm cannot install, with their Debian package. */
const PACKAGES: Readonly<Record<string, string>> = {
  zsh: 'zsh',
  fish: 'fish',
  chromium: 'chromium',
  'dbus-run-session': 'dbus',
  'gnome-keyring-daemon': 'gnome-keyring',
};

/** Installs missing packages if this process may; reports and returns those that are still missing. */
export function installDebianPackages(): readonly string[] {
  const wanted = missing();
  if (wanted.length === 0) return [];
  if (process.getuid?.() === 0 && isInstalled('apt-get')) {
    console.log(`\n── Debian packages: ${wanted.join(', ')}`);
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args: string[]) =>
      spawnSync('apt-get', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
    const install = () => apt('install', '-y', '--no-install-recommends', ...wanted);
    // The package lists may be missing or outdated.
    if (!install() && apt('update')) install();
  }
  const left = missing();
  if (left.length > 0) console.error(`not installed, so their tests are skipped: ${left.join(', ')}`);
  return left;
}

function missing(): string[] {
  return Object.entries(PACKAGES).flatMap(([program, name]) => (isInstalled(program) ? [] : [name]));
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}
