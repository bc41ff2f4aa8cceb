import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps data that a model cannot read in a file of the directory, for its owner only, and gives the path. */
export async function saveFile(directory: string, data: string, mimeType: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${randomUUID()}${extensionOf(mimeType)}`);
  await writeFile(path, Buffer.from(data, 'base64'), { mode: 0o600, flag: 'wx' });
  return path;
}

/** `image/svg+xml; charset=utf-8` is `.svg`. */
function extensionOf(mimeType: string): string {
  const subtype = /^[a-z]+\/(?:x-)?([a-z0-9]{1,10})/i.exec(mimeType)?.[1]?.toLowerCase();
  return subtype === undefined ? '.bin' : `.${subtype}`;
}
