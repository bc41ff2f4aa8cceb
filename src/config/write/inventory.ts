import { join } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import { editDocument } from '../files/edit-document.ts';
import type { Edit } from '../files/edit-text.ts';
import { FILE_VERSION, readDocument } from '../files/read-document.ts';
import { realPath } from '../files/read-text.ts';
import { isUserFile } from './file-options.ts';

/** A file outside of Toolplane's own directory that Toolplane created or changed, and its changes. */
export type WrittenFile = {
  readonly path: string;
  /** Whether Toolplane created the file. */
  readonly isCreated: boolean;
  /** The hash of each written entry, by server name. */
  readonly servers: Readonly<Record<string, string>>;
  /** Items added to lists, by key path, such as `permissions.allow`. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** Values that were set, by key path, such as `permissions.defaultMode`. */
  readonly values: Readonly<Record<string, WrittenValue>>;
  /** The hash of the whole text, for files that are not JSON. */
  readonly text?: string;
};

/** A written value, and the value that it replaced, if any. */
export type WrittenValue = { readonly is: string; readonly was?: string };

export type Inventory = { readonly files: readonly WrittenFile[]; readonly fault?: string };

/** A change that is about to be written. */
export type WriteRecord = {
  readonly isCreated: boolean;
  readonly server?: { readonly name: string; readonly hash: string };
  readonly list?: { readonly key: string; readonly values: readonly string[] };
  readonly value?: { readonly key: string } & WrittenValue;
  readonly text?: string;
};

export function inventoryPath(home: string): string {
  return join(home, 'written.json');
}

/** All recorded changes outside of `home`, sorted by path; `fault` is set if they cannot be read. */
export function readInventory(home: string): Inventory {
  const path = inventoryPath(home);
  const found = readDocument(path, { version: FILE_VERSION });
  if (found.state === 'absent') return { files: [] };
  if (found.state === 'unusable') return { files: [], fault: `${path}: ${found.fault}` };
  const { files } = found.value;
  const all = Object.entries(isRecord(files) ? files : {}).map(([path, it]) => fileOf(path, it));
  return { files: all.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}

/** Records a change before it is written: an unrecorded change would never be uninstalled. */
export function recordWrite(home: string, path: string, note: WriteRecord): void {
  if (isUserFile(home, path)) return;
  const place = realPath(path);
  change(home, (files) => {
    const before = fileOf(place, files[place]);
    const { server, list, value, text } = note;
    const at = (...way: string[]): string[] => ['files', place, ...way];
    return [
      { path: at('isCreated'), value: before.isCreated || note.isCreated },
      ...(server ? [{ path: at('servers', server.name), value: server.hash }] : []),
      ...(list ? [{ path: at('lists', list.key), value: union(before.lists[list.key], list.values) }] : []),
      ...(value ? [{ path: at('values', value.key), value: firstWas(before.values[value.key], value) }] : []),
      ...(text === undefined ? [] : [{ path: at('text'), value: text }]),
    ];
  });
}

/** Removes the record of a change that Toolplane has undone. */
export function forgetWrite(
  home: string,
  path: string,
  what: { readonly server: string } | { readonly key: string; readonly values: readonly string[] } | 'all',
): void {
  if (isUserFile(home, path)) return;
  const place = realPath(path);
  change(home, (files) => {
    if (!isRecord(files[place])) return [];
    if (what === 'all') return [{ path: ['files', place], value: undefined }];
    if ('server' in what) return [{ path: ['files', place, 'servers', what.server], value: undefined }];
    const left = fileOf(place, files[place]).lists[what.key]?.filter((it) => !what.values.includes(it));
    return [{ path: ['files', place, 'lists', what.key], value: left?.length ? left : undefined }];
  });
}

function change(home: string, edits: (files: Readonly<Record<string, unknown>>) => readonly Edit[]): void {
  editDocument(inventoryPath(home), ({ files }) => edits(isRecord(files) ? files : {}), {
    version: FILE_VERSION,
  });
}

/** Keeps the original value if Toolplane overwrites its own value. */
function firstWas(before: WrittenValue | undefined, { is, was }: WrittenValue): WrittenValue {
  const first = before && before.is === was ? before.was : was;
  return { is, ...(first !== undefined && { was: first }) };
}

function fileOf(path: string, value: unknown): WrittenFile {
  const { isCreated, servers, lists, values, text } = isRecord(value) ? value : {};
  return {
    path,
    isCreated: isCreated === true,
    servers: members(servers, (it) => (typeof it === 'string' ? it : undefined)),
    lists: members(lists, (it) =>
      Array.isArray(it) ? it.filter((one) => typeof one === 'string') : undefined,
    ),
    values: members(values, (it) => {
      if (!isRecord(it) || typeof it.is !== 'string') return undefined;
      return { is: it.is, ...(typeof it.was === 'string' && { was: it.was }) };
    }),
    ...(typeof text === 'string' && { text }),
  };
}

function members<T>(value: unknown, read: (it: unknown) => T | undefined): Record<string, T> {
  const pairs = Object.entries(isRecord(value) ? value : {}).flatMap(([name, it]) => {
    const one = read(it);
    return one === undefined ? [] : [[name, one] as const];
  });
  return Object.fromEntries(pairs);
}

function union(some: readonly string[] = [], more: readonly string[]): string[] {
  return [...new Set([...some, ...more])];
}
