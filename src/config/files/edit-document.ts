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
import { maxBytesOf, readText } from './read-text.ts';
import { realPath } from './real-path.ts';

export type EditOptions = {
  /** Of a file that is new; one that exists keeps its own. 0600 by default. */
  readonly mode?: number;
  /** Of directories that are missing on the way. 0700 by default. */
  readonly directoryMode?: number;
  /** Written as `version` into files in Toolplane's own format; files that other programs share have none. */
  readonly version?: number;
  /** A directory that symbolic links must not lead out of. */
  readonly within?: string;
  /** A directory for the lock. By default the lock is beside the file, where a repository would show or hold it. */
  readonly locks?: string;
};

/** What was done: `text` is what the file holds now, `isNew` whether there was none. */
export type Edited = { readonly text: string; readonly isNew: boolean; readonly isChanged: boolean };

/** Somebody who takes no lock wrote while we did: how often the edit is made anew on what is there then. */
const ATTEMPTS = 5;

/** A disk may be slow; whose process is no more is not waited for anyway. */
const STALE_MS = 15_000;

/**
 * Changes a file in place of nothing: read, changed and replaced whole under a lock, comments and unknown members kept.
 * `change` is given what is there now. Throws a `HostError` (`bad-config`) that names the file if it is broken, newer
 * than we know, or cannot be written; then nothing was changed.
 */
export function editDocument(
  path: string,
  change: (value: Readonly<Record<string, unknown>>) => readonly Edit[],
  options: EditOptions = {},
): Edited {
  let made: string | undefined;
  try {
    // Before anything is made: not even a lock belongs where a link leads out to.
    textAt(path, options);
    made = mkdirSync(dirname(path), { recursive: true, mode: options.directoryMode ?? 0o700 });
    const edited = withFileLock(lockOf(path, options), () => rewrite(path, change, options), STALE_MS);
    if (edited.isChanged) made = undefined;
    return edited;
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw refused(path, messageOf(cause), cause);
  } finally {
    if (made !== undefined) removeEmpty(dirname(path), made);
  }
}

/** However the file is reached, the lock is the same. */
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
      throw refused(path, `would be larger than ${maxBytes / 2 ** 20} MiB`);
    const isReplaced = replaceFile(path, text, {
      ...(options.mode !== undefined && { mode: options.mode }),
      // The text too: clocks of disks are coarse.
      isStill: () => textAt(path, options) === before && fileState(path) === state,
    });
    if (isReplaced) return { text, isNew, isChanged: true };
  }
  throw refused(path, 'another program keeps writing to it; try again');
}

/** What the text becomes; the same if there is nothing to change. */
function edited(
  path: string,
  before: string,
  change: (value: Readonly<Record<string, unknown>>) => readonly Edit[],
  { version }: EditOptions,
): string {
  const found = parseDocument(before);
  if (found.state !== 'read') {
    const { fault, position } = found.state === 'unusable' ? found : { fault: 'it is gone' };
    throw refused(formatPosition(path, position), `${fault}; fix it first`);
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

/** Directories that were made for a file that is not there in the end, from the innermost to the first. */
function removeEmpty(innermost: string, first: string): void {
  try {
    for (let at = innermost; at.length >= first.length; at = dirname(at)) rmdirSync(at);
  } catch {
    // Somebody else uses it already.
  }
}
