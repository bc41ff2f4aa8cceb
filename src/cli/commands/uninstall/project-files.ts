import { rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isRecord } from '../../../base/json-value.ts';
import { hashContent } from '../../../config/approval/approved-content.ts';
import { type Edit, editDocument } from '../../../config/files/edit-document.ts';
import { documentOf } from '../../../config/files/read-document.ts';
import { readText } from '../../../config/files/read-text.ts';
import { realPath } from '../../../config/files/real-path.ts';
import { locksPath } from '../../../config/write/file-options.ts';
import { forgetWrite, readInventory, type WrittenFile } from '../../../config/write/inventory.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';

/** What uninstalling does with a file of a project: removes it, removes Toolplane's part of it, or leaves it. */
export type Undo = {
  readonly path: string;
  readonly action: 'remove' | 'edit' | 'leave' | 'gone';
  /** Servers, rules and single values that are still as Toolplane wrote them. */
  readonly servers: readonly string[];
  readonly rules: readonly string[];
  readonly values: readonly string[];
  /** What Toolplane wrote and does not remove, and why. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly edits: readonly Edit[];
};

/** The content of a file now; `isPlain` if it has no comments. */
export type Found =
  | { readonly state: 'absent' }
  | { readonly state: 'unusable'; readonly fault: string }
  | {
      readonly state: 'read';
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
      readonly isPlain: boolean;
    };

/** Every file of a project that Toolplane wrote to and that still exists. */
export function projectFiles(home: string): { readonly files: readonly Undo[]; readonly fault?: string } {
  const { files, fault } = readInventory(home);
  return {
    files: files.map(undoNow).filter(({ action }) => action !== 'gone'),
    ...(fault !== undefined && { fault }),
  };
}

/** Removes what Toolplane wrote to projects; returns one line for each failure. */
export function removeFromProjects(home: string): string[] {
  const { files, fault } = readInventory(home);
  if (fault !== undefined) return [unknownFiles(fault)];
  return files.flatMap((file) => {
    try {
      const { action, path } = undoNow(file);
      if (action === 'remove') removeFile(path);
      if (action === 'edit') editDocument(path, () => undoNow(file).edits, { locks: locksPath(home) });
      forgetWrite(home, path, 'all');
      return [];
    } catch (cause) {
      return [messageOf(cause)];
    }
  });
}

/** The message about an inventory that cannot be read. */
export function unknownFiles(fault: string): string {
  return `cannot tell what was written to projects: ${fault}`;
}

function removeFile(path: string): void {
  unlinkSync(path);
  if (basename(dirname(path)) === '.toolplane') removeIfEmpty(dirname(path));
}

/** Removes a directory unless it still contains something. */
export function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // It still contains files that are not Toolplane's.
  }
}

function undoNow(file: WrittenFile): Undo {
  return undoOf(file, foundAt(file));
}

function foundAt({ path, text: hash }: WrittenFile): Found {
  if (realPath(path) !== path) {
    return { state: 'unusable', fault: 'it is a symbolic link now, which is not followed' };
  }
  const found = readText(path);
  if (found.state !== 'read') return found;
  const { text } = found;
  if (hash !== undefined) return { state: 'read', text, value: {}, isPlain: false };
  const document = documentOf(path, text);
  if (document.state === 'read')
    return { state: 'read', text, value: document.value, isPlain: isPlain(text) };
  return { state: 'unusable', fault: document.state === 'unusable' ? document.fault : 'it is gone' };
}

function isPlain(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes only what is unchanged; removes the whole file only if Toolplane created it and nothing else is in it. */
export function undoOf(file: WrittenFile, found: Found): Undo {
  const { path } = file;
  const none = { path, servers: [], rules: [], values: [], left: [], edits: [] };
  const leave = (why: string): Undo => ({ ...none, action: 'leave', left: [{ what: 'the file', why }] });
  if (found.state === 'absent') return { ...none, action: 'gone' };
  if (found.state === 'unusable') return leave(found.fault);
  if (file.text !== undefined) {
    return hashContent(found.text) === file.text ? { ...none, action: 'remove' } : leave(CHANGED);
  }
  const { mcpServers } = found.value;
  const there = isRecord(mcpServers) ? mcpServers : {};
  const names = Object.keys(file.servers).filter((name) => Object.hasOwn(there, name));
  const servers = names.filter((name) => hashContent(there[name]) === file.servers[name]);
  const left = names
    .filter((name) => !servers.includes(name))
    .map((name) => ({ what: `the server "${name}"`, why: CHANGED }));
  const rules = Object.entries(file.lists).flatMap(([key, values]) => rulesOf(key, values, found.value));
  const values = Object.entries(file.values).filter(([key, { is }]) => valueAt(found.value, key) === is);
  const edits: Edit[] = [
    ...servers.map((name) => ({ path: ['mcpServers', name], value: undefined })),
    // From the end, so that the positions before stay valid.
    ...rules.map(({ path: at }) => ({ path: at, value: undefined })).reverse(),
    ...values.map(([key, { was }]) => ({ path: key.split('.'), value: was })),
  ];
  const undo = {
    path,
    servers,
    rules: [...new Set(rules.map(({ text }) => text))],
    values: values.map(([key, { is, was }]) => `${key}: ${is}${was === undefined ? '' : ` (again ${was})`}`),
    left,
    edits,
  };
  const { version: _, ...rest } = withEdits(found.value, edits);
  if (file.isCreated && found.isPlain && isEmpty(rest)) return { ...undo, action: 'remove' };
  return { ...undo, action: edits.length > 0 ? 'edit' : left.length > 0 ? 'leave' : 'gone' };
}

const CHANGED = 'it was changed since';

type Values = Readonly<Record<string, unknown>>;

function rulesOf(
  key: string,
  ours: readonly string[],
  value: Values,
): { path: Edit['path']; text: string }[] {
  const list = valueAt(value, key);
  if (!Array.isArray(list)) return [];
  return list.flatMap((rule, at) =>
    ours.includes(rule) ? [{ path: [...key.split('.'), at], text: `${key}: ${rule}` }] : [],
  );
}

function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((it, part) => (isRecord(it) ? it[part] : undefined), value);
}

function withEdits(value: Values, edits: readonly Edit[]): Values {
  const rest = structuredClone(value) as Record<string, unknown>;
  for (const { path, value: next } of edits) {
    const last = path.at(-1);
    const holder = path.length === 1 ? rest : valueAt(rest, path.slice(0, -1).join('.'));
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else if (isRecord(holder) && next === undefined) delete holder[String(last)];
    else if (isRecord(holder)) holder[String(last)] = next;
  }
  return rest;
}

/** Empty objects and lists contain nothing. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every(isEmpty);
}
