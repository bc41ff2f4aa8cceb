import { rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { editDocument } from '../../../config/files/edit-document.ts';
import { documentOf } from '../../../config/files/read-document.ts';
import { readText } from '../../../config/files/read-text.ts';
import { realPlace } from '../../../config/files/real-path.ts';
import { locksPath } from '../../../config/write/file-options.ts';
import { forgetWritten, readInventory, type WrittenFile } from '../../../config/write/inventory.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { type HomeContent, type HomePart, homeContent } from './home-parts.ts';
import { type Found, type Undo, undoOf } from './undo-file.ts';

/** Everything we ever wrote that is still there. */
export type Traces = {
  readonly home: string;
  readonly content: HomeContent;
  readonly files: readonly Undo[];
  /** Why files of projects are not known, if they are not. */
  readonly fault?: string;
};

export function findTraces(home: string): Traces {
  const { files, fault } = readInventory(home);
  return {
    home,
    content: homeContent(home),
    files: files.map(undoNow).filter(({ action }) => action !== 'gone'),
    ...(fault !== undefined && { fault }),
  };
}

/** What is to be done with a file as it is now. */
function undoNow(file: WrittenFile): Undo {
  return undoOf(file, foundAt(file));
}

function foundAt({ path, text: isText }: WrittenFile): Found {
  // We wrote to the file itself, and what a link leads to is another.
  if (realPlace(path) !== path)
    return { state: 'unusable', fault: 'it is reached by a link by now, which is not followed' };
  const found = readText(path);
  if (found.state !== 'read') return found;
  const { text } = found;
  if (isText !== undefined) return { state: 'read', text, value: {}, isPlain: false };
  const document = documentOf(path, text);
  if (document.state === 'read')
    return { state: 'read', text, value: document.value, isPlain: isPlainJson(text) };
  return { state: 'unusable', fault: document.state === 'unusable' ? document.fault : 'it is gone' };
}

/** Whoever wrote a comment into a file wants to keep it. */
function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Takes out of projects what is ours, then removes what is kept for the person; gives what could not be done, a line each. */
export function removeTraces(home: string, keep: 'nothing' | 'settings'): string[] {
  const faults = keep === 'settings' ? [] : removeFromProjects(home);
  const parts = homeContent(home).parts.filter((it) => keep === 'nothing' || !it.isConfigured);
  // Without it nobody would find again what could not be removed.
  const gone = faults.length === 0 ? parts : parts.filter(({ kind }) => kind !== 'inventory');
  faults.push(...gone.flatMap(removePart));
  removeIfEmpty(home);
  return faults;
}

function removeFromProjects(home: string): string[] {
  const { files, fault } = readInventory(home);
  if (fault !== undefined) return [`what was written into projects is not known: ${fault}`];
  return files.flatMap((file) => {
    try {
      const { action, path } = undoNow(file);
      if (action === 'remove') removeFile(path);
      if (action === 'edit') editDocument(path, () => undoNow(file).edits, { locks: locksPath(home) });
      forgetWritten(home, path, 'all');
      return [];
    } catch (cause) {
      return [messageOf(cause)];
    }
  });
}

function removeFile(path: string): void {
  unlinkSync(path);
  if (basename(dirname(path)) === '.toolplane') removeIfEmpty(dirname(path));
}

/** File by file, so that what has come meanwhile stays. */
function removePart({ paths, directories }: HomePart): string[] {
  const faults = paths.flatMap((path) => {
    try {
      rmSync(path, { force: true });
      return [];
    } catch (cause) {
      return [`${path} was not removed: ${messageOf(cause)}`];
    }
  });
  for (const directory of directories) removeIfEmpty(directory);
  return faults;
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // There is more in it, which is not ours.
  }
}
