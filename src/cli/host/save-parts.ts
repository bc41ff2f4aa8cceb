import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf } from '../../host/result/extension.ts';
import type { Part } from './content-parts.ts';

/** Keeps what is binary in files of this directory; gives the parts with the names of the files. No file is overwritten. */
export async function saveParts(parts: readonly Part[], directory: string, name: string): Promise<Part[]> {
  const saved: Part[] = [];
  for (const part of parts) {
    if (part.kind === 'text' || !part.file) saved.push(part);
    else {
      const { bytes, mimeType } = part.file;
      const path = await saveNew(directory, safeName(name), extensionOf(mimeType), bytes);
      saved.push({ ...part, line: `${part.line}: ${path}` });
    }
  }
  return saved;
}

/** A name of a server leads nowhere but into the directory. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
  return /[a-zA-Z0-9]/.test(safe) ? safe : 'content';
}

async function saveNew(directory: string, name: string, extension: string, bytes: Buffer): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (let count = 1; ; count++) {
    const path = join(directory, `${name}-${count}${extension}`);
    try {
      await writeFile(path, bytes, { flag: 'wx' });
      return path;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  }
}
