import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { shellWord } from '../../base/shell-word.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

/** Beyond this it is no file of ours. */
const MOST_BYTES = 64 * 1024 * 1024;

/** A file's text if its owner, who must be us, is the only one who may read it; undefined if there is none. */
export function readPrivateFile(
  path: string,
): { readonly text: string | undefined } | { readonly fault: string } {
  let file: number;
  try {
    // Neither a link, which may lead to anything, nor a pipe that nobody writes to.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') return { text: undefined };
    if (code === 'ELOOP') return { fault: 'it is a link; put the file itself there' };
    return { fault: messageOf(cause) };
  }
  try {
    const fault = faultOf(fstatSync(file), path);
    return fault === undefined ? { text: readFileSync(file, 'utf8') } : { fault };
  } catch (cause) {
    return { fault: messageOf(cause) };
  } finally {
    closeSync(file);
  }
}

function faultOf(stats: Stats, path: string): string | undefined {
  if (!stats.isFile()) return 'it is no file';
  if (stats.size > MOST_BYTES) return 'it is far too large';
  // Windows has neither owners nor modes as these; there the directory of the person protects it.
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  if (stats.uid !== me)
    return `it belongs to another user (${stats.uid}); remove it and set the secrets anew`;
  if ((stats.mode & 0o077) !== 0) return `others may read it; run: chmod 600 ${shellWord(path)}`;
  return undefined;
}
