import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf } from '../../host/result/extension.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Part } from './content-parts.ts';

/** Parts with the names of their files, these names, and why some are not kept. */
export type Saved = {
  readonly parts: readonly Part[];
  readonly files: readonly string[];
  readonly faults: readonly string[];
};

/** Keeps what is binary in files of this directory. No file is overwritten, and what cannot be kept is not lost otherwise. */
export async function saveParts(parts: readonly Part[], directory: string, name: string): Promise<Saved> {
  const shown: Part[] = [];
  const files: string[] = [];
  const faults: string[] = [];
  for (const part of parts) {
    if (part.kind === 'text' || !part.file) {
      shown.push(part);
      continue;
    }
    const { bytes, mimeType } = part.file;
    try {
      const path = await saveNew(directory, safeName(name), extensionOf(mimeType), bytes);
      files.push(path);
      shown.push({ ...part, line: `${part.line}: ${path}` });
    } catch (cause) {
      faults.push(`${part.line} is not kept: ${messageOf(cause)}`);
      shown.push(part);
    }
  }
  return { parts: shown, files, faults };
}

/** A name of a server leads nowhere but into the directory. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
  return /[a-zA-Z0-9]/.test(safe) ? safe : 'content';
}

async function saveNew(directory: string, name: string, extension: string, bytes: Buffer): Promise<string> {
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
