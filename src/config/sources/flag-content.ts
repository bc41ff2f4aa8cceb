import { resolve } from 'node:path';
import { documentOf, readDocumentNow } from '../files/read-document.ts';
import type { Migration } from '../files/versions.ts';
import type { Content } from './content.ts';
import { flagLabel } from './labels.ts';

/** What a flag gives; `path` is there if it stands in a file. */
export type FlagContent = { readonly label: string; readonly path?: string; readonly content: Content };

/** A JSON text begins as such; everything else is the path of a file, which must be there. */
export async function readFlag(...given: Parameters<typeof readFlagNow>): Promise<FlagContent> {
  return readFlagNow(...given);
}

/** The same, in place. */
export function readFlagNow(
  flag: string,
  value: string,
  cwd: string,
  migrations?: readonly Migration[],
): FlagContent {
  if (/^\s*[{[]/.test(value)) return { label: flag, content: documentOf('', value, migrations) };
  const path = resolve(cwd, value);
  const label = flagLabel(flag, value);
  const content = readDocumentNow(path, { ...(migrations && { migrations }) });
  if (content.state !== 'absent') return { label, path, content };
  return { label, path, content: { state: 'unusable', fault: 'there is no such file; check the path' } };
}
