import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChoiceFile, NO_CHOICES, readChoiceText } from './choice-file.ts';

/** Nobody says so much; whatever it is, it is none of ours. */
const MAX_BYTES = 16 * 1024 * 1024;

export function choicesPath(home: string): string {
  return join(home, 'choices.json');
}

/** Reads the file in place; `fault` is one sentence that says what to do. */
export function loadChoices(home: string): ChoiceFile | { readonly fault: string } {
  const path = choicesPath(home);
  const file = readOwn(path);
  if (file === undefined) return NO_CHOICES;
  const read = 'fault' in file ? file : readChoiceText(file.text);
  if (!('fault' in read)) return read;
  const remedy = 'remedy' in read ? read.remedy : 'put it right, or remove it and approve again';
  return { fault: `${path} cannot be used, so nothing of projects is approved: ${read.fault}; ${remedy}` };
}

type Read = { readonly text: string } | { readonly fault: string; readonly remedy?: string };

/** Whoever else could write the file could approve in the person's name. */
function readOwn(path: string): Read | undefined {
  let file: number | undefined;
  try {
    // Without waiting: it may be a pipe that nobody writes to.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    const { mode, size } = stats;
    if (!stats.isFile()) return { fault: 'it is no file' };
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      return { fault: 'others may read or write it', remedy: `run chmod 600 ${path}` };
    }
    if (size > MAX_BYTES) return { fault: 'it is too large to be a list of choices' };
    return { text: readFileSync(file, 'utf8') };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'it cannot be read';
    return code === 'ENOENT' ? undefined : { fault: code };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
