import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file that does not exist yet. Throws EEXIST if something has that name; if the content cannot be written, on a
 * full disk for example, no file stays behind.
 */
export function createFile(
  path: string,
  content: string | Uint8Array,
  { mode }: { readonly mode: number },
): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeAndClose(file, content);
  } catch (cause) {
    rmSync(path, { force: true });
    throw cause;
  }
}

function writeAndClose(file: number, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}
