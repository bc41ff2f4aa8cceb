import { globSync, readFileSync, rmSync } from 'node:fs';
import { posix } from 'node:path';

/** The declarations of the package exports. */
const ENTRIES = ['entry/index.d.ts', 'entry/host.d.ts', 'entry/testing.d.ts', 'entry/sdk-tools.d.ts'];

/** Deletes the declarations below `directory` that no exported declaration needs. */
export function pruneDeclarations(directory: string): void {
  const { files } = reachableDeclarations(directory);
  for (const file of globSync('**/*.d.ts', { cwd: directory })) {
    if (!files.has(file)) rmSync(`${directory}/${file}`);
  }
}

/** The declarations that the entries import, and the packages whose types they import. */
export function reachableDeclarations(directory: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set(ENTRIES);
  const packages = new Set<string>();
  for (const file of files) {
    for (const specifier of importedFrom(readFileSync(`${directory}/${file}`, 'utf8'))) {
      if (specifier.startsWith('.')) {
        const target = posix.join(posix.dirname(file), specifier);
        files.add(target.replace(/\.[jt]s$/, '.d.ts'));
      } else if (!specifier.startsWith('node:')) {
        packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
      }
    }
  }
  return { files, packages };
}

function importedFrom(declaration: string): string[] {
  const imports = declaration.matchAll(/\b(?:from|import|import\()\s*(['"])([^'"]+)\1/g);
  return [...imports].map(([, , specifier = '']) => specifier);
}
