import { existsSync } from 'node:fs';
import { isRecord } from '../../base/json-value.ts';
import type { ConfigContext } from '../config-context.ts';
import { type Edit, editDocument } from '../files/edit-document.ts';
import { documentOf, readDocumentNow } from '../files/read-document.ts';
import { editOptionsFor } from './file-options.ts';
import { forgetWrite, recordWrite } from './inventory.ts';
import { ignoreLocalSettings } from './write-servers.ts';

type Values = Readonly<Record<string, unknown>>;

export type ListWritten = {
  readonly path: string;
  /** Those that were not there before, or are not there any more. */
  readonly changed: readonly string[];
  readonly isNew: boolean;
  /** What the whole file said, and what it says now. */
  readonly before: Values;
  readonly after: Values;
};

/** Adds to a list of a settings file what it does not hold yet, such as rules to `permissions.allow`. Approves nothing. */
export function addToList(
  context: ConfigContext,
  path: string,
  key: readonly string[],
  values: readonly string[],
): ListWritten {
  // Noted before it is written; what was there already is none of ours.
  const added = missing(valueNow(context, path), key, values);
  const list = { key: key.join('.'), values: added };
  if (added.length > 0) recordWrite(context.home, path, { isCreated: !existsSync(path), list });
  if (added.length > 0) ignoreLocalSettings(context, path);
  return edit(context, path, (before) => {
    const { length } = listAt(before, key);
    const changed = missing(before, key, values);
    return { changed, edits: changed.map((value, at) => ({ path: [...key, length + at], value })) };
  });
}

/** Takes out of a list of a settings file what it holds of the values. */
export function removeFromList(
  context: ConfigContext,
  path: string,
  key: readonly string[],
  values: readonly string[],
): ListWritten {
  const written = edit(context, path, (before) => {
    const all = listAt(before, key);
    const found = [...all.keys()].filter((at) => values.includes(all[at] as string));
    const edits = found.reverse().map((at) => ({ path: [...key, at], value: undefined }));
    return { changed: values.filter((it) => all.includes(it)), edits };
  });
  if (written.changed.length > 0) forgetWrite(context.home, path, { key: key.join('.'), values });
  return written;
}

function edit(
  context: ConfigContext,
  path: string,
  change: (before: Values) => { readonly changed: readonly string[]; readonly edits: readonly Edit[] },
): ListWritten {
  let done: { readonly before: Values; readonly changed: readonly string[] } = { before: {}, changed: [] };
  const { text, isNew } = editDocument(
    path,
    (before) => {
      const { changed, edits } = change(before);
      done = { before, changed };
      return edits;
    },
    editOptionsFor(context, path),
  );
  const now = documentOf(path, text);
  return { ...done, path, isNew, after: now.state === 'read' ? now.value : {} };
}

function valueNow(context: ConfigContext, path: string): Values {
  const found = readDocumentNow(path, editOptionsFor(context, path));
  return found.state === 'read' ? found.value : {};
}

function missing(value: Values, key: readonly string[], values: readonly string[]): string[] {
  const there = listAt(value, key);
  return [...new Set(values)].filter((it) => !there.includes(it));
}

/** What is there and no list is told by who edits it. */
function listAt(value: Values, key: readonly string[]): readonly unknown[] {
  const found = key.reduce<unknown>((it, part) => (isRecord(it) ? it[part] : undefined), value);
  return Array.isArray(found) ? found : [];
}
