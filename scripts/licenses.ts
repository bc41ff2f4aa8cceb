import { globSync, readFileSync } from 'node:fs';
import { ROOT } from './step.ts';

/** The licenses of the packages whose code is in the bundle, as one text. */
export function licenseTexts(packages: readonly string[]): string {
  const head = `The files of this directory contain code of ${packages.length} other packages, under these licences.\n`;
  return [head, ...packages.map(licenseText)].join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseText(name: string): string {
  const directory = `${ROOT}node_modules/${name}`;
  const manifest = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as Manifest;
  const [file] = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: directory });
  const text =
    file === undefined ? standardText(name, manifest) : readFileSync(`${directory}/${file}`, 'utf8');
  return `${name} ${manifest.version} (${manifest.license})\n\n${text.trim()}\n`;
}

type Manifest = { version: string; license: string; author?: string | { name: string } };

/** For a package that names its license without including the text. */
function standardText(name: string, { license, author }: Manifest): string {
  if (license !== 'MIT') throw new Error(`${name} is bundled but has no licence file to ship`);
  const holder = typeof author === 'string' ? author : (author?.name ?? `the authors of ${name}`);
  const ours = readFileSync(`${ROOT}LICENSE`, 'utf8');
  return ours.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}
