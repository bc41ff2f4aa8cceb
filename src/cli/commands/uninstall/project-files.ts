import { rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isRecord } from '../../../base/json-value.ts';
import { hashContent } from '../../../config/approval/approved-content.ts';
import { editDocument } from '../../../config/files/edit-document.ts';
import { type Edit, editText } from '../../../config/files/edit-text.ts';
import { parseDocument } from '../../../config/files/read-document.ts';
import { type FileText, readText, realPath } from '../../../config/files/read-text.ts';

import { locksPath } from '../../../config/write/file-options.ts';
import { forgetWrite, readInventory, type WrittenFile } from '../../../config/write/inventory.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';

/** What uninstalling does with a file of a project: removes it, removes Toolplane's part of it, or leaves it. */
export type Undo = {
  readonly path: string;
  readonly action: 'remove' | 'edit' | 'leave' | 'gone';
  /** Servers, rules and single values that are unchanged since Toolplane wrote them. */
  readonly servers: readonly string[];
  readonly rules: readonly string[];
  readonly values: readonly string[];
  /** What Toolplane wrote and does not remove, and why. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly edits: readonly Edit[];
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
  return `cannot determine what Toolplane wrote to projects: ${fault}`;
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
    // The directory still contains other files.
  }
}

function undoNow(file: WrittenFile): Undo {
  const { path } = file;
  if (realPath(path) === path) return undoOf(file, readText(path));
  return undoOf(file, { state: 'unusable', fault: 'replaced by a symbolic link, which is not followed' });
}

/** Removes only what is unchanged; removes the whole file only if Toolplane created it and nothing else is in it. */
export function undoOf(file: WrittenFile, found: FileText): Undo {
  const { path } = file;
  const none = { path, servers: [], rules: [], values: [], left: [], edits: [] };
  const leave = (why: string): Undo => ({ ...none, action: 'leave', left: [{ what: 'the file', why }] });
  if (found.state === 'absent') return { ...none, action: 'gone' };
  if (found.state === 'unusable') return leave(found.fault);
  if (file.text !== undefined) {
    return hashContent(found.text) === file.text ? { ...none, action: 'remove' } : leave(CHANGED);
  }
  const document = parseDocument(found.text);
  if (document.state === 'unusable') return leave(document.fault);
  const value = document.state === 'read' ? document.value : {};
  const entries = isRecord(value.mcpServers) ? value.mcpServers : {};
  const names = Object.keys(file.servers).filter((name) => Object.hasOwn(entries, name));
  const isUnchanged = (name: string) => hashContent(entries[name]) === file.servers[name];
  const servers = names.filter(isUnchanged);
  const left = names
    .filter((name) => !isUnchanged(name))
    .map((name) => ({ what: `the server "${name}"`, why: CHANGED }));
  const rules = Object.entries(file.lists).flatMap(([key, ours]) => rulesOf(key, ours, value));
  const values = Object.entries(file.values).filter(([key, { is }]) => valueAt(value, key) === is);
  const edits: Edit[] = [
    ...servers.map((name) => ({ path: ['mcpServers', name], value: undefined })),
    // Rules are removed from the end, so that earlier positions stay valid.
    ...rules.map(({ path: at }) => ({ path: at, value: undefined })).reverse(),
    ...values.map(([key, { was }]) => ({ path: key.split('.'), value: was })),
  ];
  const undo = {
    path,
    servers,
    rules: [...new Set(rules.map(({ text }) => text))],
    values: values.map(
      ([key, { is, was }]) => `${key}: ${is}${was === undefined ? '' : ` (reset to ${was})`}`,
    ),
    left,
    edits,
  };
  if (file.isCreated && hasNoContent(editText(found.text, edits))) return { ...undo, action: 'remove' };
  return { ...undo, action: edits.length > 0 ? 'edit' : left.length > 0 ? 'leave' : 'gone' };
}

const CHANGED = 'changed since Toolplane wrote it';

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

/** Whether a JSON text has no value apart from its version, and no comment. */
function hasNoContent(text: string): boolean {
  try {
    const { version: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return isEmpty(rest);
  } catch {
    return false;
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(isEmpty);
}
