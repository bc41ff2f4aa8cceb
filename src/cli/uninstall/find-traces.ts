import { documentOf } from '../../config/files/read-document.ts';
import { readText } from '../../config/files/read-text.ts';
import { realPlace } from '../../config/files/real-path.ts';
import { readInventory, type WrittenFile } from '../../config/write/inventory.ts';
import { type HomeContent, homeContent } from './home-parts.ts';
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
export function undoNow(file: WrittenFile): Undo {
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
