import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { MemoryOptions } from '../../../src/agent/memory/memory-files.ts';

/** A home and a project with these files, whose paths start with `home/`, `above/` or `above/project/`. */
export function memoryPlace(files: Readonly<Record<string, string>>, more: Partial<MemoryOptions> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'memory-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const at = (path: string) => join(root, path);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  write('above/project/.keep', '');
  for (const [path, text] of Object.entries(files)) write(path, text);
  const options: MemoryOptions = {
    cwd: at('above/project'),
    userHome: at('home'),
    home: at('home/.toolplane'),
    claudeHome: at('home/.claude'),
    isTrusted: () => false,
    mayRead: () => true,
    ...more,
  };
  const label = (path: string) => path.replace(`${root}/`, '').replace('above/project/', '');
  return { at, write, options, label };
}
