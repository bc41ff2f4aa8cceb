import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { onTestFinished, vi } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** The files below `src/` on the stack of the first write that contains the text, outermost caller first. */
export async function stackOfWrite(content: string, work: () => Promise<unknown>): Promise<string[]> {
  let stack = '';
  const write = Duplex.prototype.write as (...args: unknown[]) => boolean;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const spy = vi.spyOn(Duplex.prototype, 'write').mockImplementation(function (this: Duplex, ...args) {
    if (stack === '' && String(args[0]).includes(content)) stack = new Error('trace').stack ?? '';
    return write.apply(this, args);
  });
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
    spy.mockRestore();
  });
  await work();
  return [...stack.matchAll(/\/src\/(.+?\.ts):/g)].map(([, file]) => file as string).reverse();
}

/** The folders of the files, with neighbours in the same folder joined. */
export function foldersOf(files: readonly string[]): string[] {
  const folders = files.map((file) => file.split('/').slice(0, 2).join('/'));
  return folders.filter((folder, at) => folder !== folders[at - 1]);
}

/** The rows of a step table in a section of ARCHITECTURE.md, and those whose function is not in the named file. */
export function listedSteps(section: string): { steps: string[]; missing: string[] } {
  const page = readFileSync(new URL('ARCHITECTURE.md', ROOT), 'utf8');
  const from = page.indexOf(`\n## ${section}\n`);
  const text = page.slice(from, page.indexOf('\n## ', from + 1));
  const rows = [...text.matchAll(/^\| \d+ \| `(#?\w+)` \| `([\w/-]+\.ts)` \|.*$/gm)];
  const missing = rows.filter(([, name, file]) => {
    const source = readFileSync(new URL(`src/${file}`, ROOT), 'utf8');
    return !new RegExp(`(?:function |^ *(?:async |get |readonly )?)${name}(?:<T>)?(?:\\(|: | = )`, 'm').test(
      source,
    );
  });
  return { steps: rows.map(([row]) => row), missing: missing.map(([row]) => row) };
}
