import { createHash } from 'node:crypto';
import { mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { fileState, followLinks, replaceFile } from '../../base/files/replace-file.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { formatPosition } from './diagnostics.ts';
import { type Edit, EditRefused, editText } from './edit-text.ts';
import { findVersionFault, parseDocument } from './read-document.ts';
import { maxBytesOf, readText, realPath } from './read-text.ts';

export type EditOptions = {
  /** Mode of a new file; 0600 by default. An existing file keeps its mode. */
  readonly mode?: number;
  /** Mode of new directories; 0700 by default. */
  readonly directoryMode?: number;
  /** Written as `version` into files in Toolplane's own format; files that other programs share have none. */
  readonly version?: number;
  /** A directory that symbolic links must not lead out of. */
  readonly within?: string;
  /** A directory for the lock. By default the lock is beside the file, where a repository would show or hold it. */
  readonly locks?: string;
};

/** `text` is the new content of the file; `isNew` says whether the file was created. */
export type Edited = { readonly text: string; readonly isNew: boolean; readonly isChanged: boolean };

/** How often an edit is repeated when a program that ignores the lock writes the file meanwhile. */
const ATTEMPTS = 5;

/** Age after which the lock of a running process is taken over; long enough for slow disks. */
const STALE_MS = 15_000;

/**
 * Reads, edits and atomically replaces a file under a lock; comments and unknown keys are kept. `change` gets the current
 * content. Throws a `HostError` (`bad-config`) that names the file if it is invalid, has a newer version or cannot be
 * written; the file is then unchanged.
 */
export function editDocument(
  path: string,
  change: (value: Readonly<Record<string, unknown>>) => readonly Edit[],
  options: EditOptions = {},
): Edited {
  let created: string | undefined;
  try {
    // Checked first, so that not even a lock is created where a link leads out of the directory.
    textAt(path, options);
    created = mkdirSync(dirname(path), { recursive: true, mode: options.directoryMode ?? 0o700 });
    const edited = withFileLock(lockOf(path, options), () => rewrite(path, change, options), STALE_MS);
    if (edited.isChanged) created = undefined;
    return edited;
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw refused(path, messageOf(cause), cause);
  } finally {
    if (created !== undefined) removeEmpty(dirname(path), created);
  }
}

/** The lock is the same for every path that leads to the file. */
function lockOf(path: string, { locks }: EditOptions): string {
  if (locks === undefined) return `${followLinks(path)}.lock`;
  mkdirSync(locks, { recursive: true, mode: 0o700 });
  return join(locks, `${createHash('sha256').update(realPath(path)).digest('hex').slice(0, 32)}.lock`);
}

function rewrite(
  path: string,
  change: (value: Readonly<Record<string, unknown>>) => readonly Edit[],
  options: EditOptions,
): Edited {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const state = fileState(path);
    const before = textAt(path, options);
    const text = edited(path, before ?? '', change, options);
    const isNew = before === undefined;
    if (text === (before ?? '')) return { text, isNew, isChanged: false };
    const maxBytes = maxBytesOf(options);
    if (Buffer.byteLength(text) > maxBytes)
      throw refused(
        path,
        `the file would be larger than ${maxBytes / 2 ** 20} MiB; remove content from it first`,
      );
    const isReplaced = replaceFile(path, text, {
      ...(options.mode !== undefined && { mode: options.mode }),
      // Compares the text too: file times are coarse.
      isStill: () => textAt(path, options) === before && fileState(path) === state,
    });
    if (isReplaced) return { text, isNew, isChanged: true };
  }
  throw refused(path, 'another program keeps writing to the file; try again');
}

/** The new text; the same text if nothing changes. */
function edited(
  path: string,
  before: string,
  change: (value: Readonly<Record<string, unknown>>) => readonly Edit[],
  { version }: EditOptions,
): string {
  const found = parseDocument(before);
  if (found.state !== 'read') {
    const { fault, position } = found.state === 'unusable' ? found : { fault: 'the file no longer exists' };
    throw refused(formatPosition(path, position), `${fault}; fix the file first`);
  }
  const fault = version === undefined ? undefined : findVersionFault(found.value, version);
  if (fault !== undefined) throw refused(path, fault);
  const edits = change(found.value);
  try {
    if (editText(before, edits) === before) return before;
    const stamp = version === undefined ? [] : [{ path: ['version'], value: version }];
    return editText(before, [...stamp, ...edits]);
  } catch (cause) {
    if (cause instanceof EditRefused) throw refused(path, cause.message, cause);
    throw cause;
  }
}

function textAt(path: string, options: EditOptions): string | undefined {
  const found = readText(path, options.within === undefined ? {} : { within: options.within });
  if (found.state === 'unusable') throw refused(path, found.fault);
  return found.state === 'read' ? found.text : undefined;
}

function refused(place: string, why: string, cause?: unknown): HostError {
  return new HostError('bad-config', '', `${place} was not changed: ${why}`, { cause });
}

/** Removes directories that were created for a file that was not written, innermost first. */
function removeEmpty(innermost: string, first: string): void {
  try {
    for (let at = innermost; at.length >= first.length; at = dirname(at)) rmdirSync(at);
  } catch {
    // Another program uses the directory already.
  }
}
