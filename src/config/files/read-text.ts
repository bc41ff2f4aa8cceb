import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Maximum size of a file that the user or an administrator wrote. */
const MAX_FILE_BYTES = 8 * 2 ** 20;

/** Maximum size of a file of a project or plugin; lower, since such files are read before the user approves them. */
const MAX_BYTES_WITHIN = 2 ** 20;

type TextOptions = {
  /** A directory that symbolic links must not lead out of. */
  readonly within?: string;
  /** By default 8 MiB, and 1 MiB `within` a directory. */
  readonly maxBytes?: number;
};

/** The size limit for files that are read with these options, or written to be read with them. */
export function maxBytesOf({ within, maxBytes }: TextOptions): number {
  return maxBytes ?? (within === undefined ? MAX_FILE_BYTES : MAX_BYTES_WITHIN);
}

/** The text of a file; `fault` is the reason why it cannot be read. */
export type FileText =
  | { readonly state: 'absent' }
  | { readonly state: 'unusable'; readonly fault: string }
  | { readonly state: 'read'; readonly text: string };

/** Reads a small file synchronously. Pipes and devices are refused, so that reading never blocks. */
export function readText(path: string, options: TextOptions = {}): FileText {
  const { within } = options;
  try {
    // Most files are missing, and an error takes longer than a check.
    if (!statSync(path, { throwIfNoEntry: false })) return missing(path, within);
    const target = realpathSync.native(path);
    if (leadsOut(target, within)) return { state: 'unusable', fault: outOf(within) };
    return readRegular(target, maxBytesOf(options));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') return missing(path, within);
    return { state: 'unusable', fault: FAULTS[code ?? ''] ?? `cannot be read (${code ?? 'unknown'})` };
  }
}

function missing(path: string, within: string | undefined): FileText {
  if (isLink(path)) return { state: 'unusable', fault: 'broken symbolic link' };
  // A missing file must not be created outside of the directory either.
  if (within !== undefined && leadsOut(realPath(path), within))
    return { state: 'unusable', fault: outOf(within) };
  return { state: 'absent' };
}

const FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; change the permissions of the file',
  EPERM: 'permission denied; change the permissions of the file',
  EISDIR: 'is a directory, not a file',
  ELOOP: 'circular symbolic link',
  // Opening a pipe or socket without a peer.
  ENXIO: 'not a regular file',
};

function readRegular(path: string, maxBytes: number): FileText {
  // Checked before opening, because opening a device may have effects, and again after, because the file may be replaced.
  const fault = kindFault(statSync(path), maxBytes);
  if (fault !== undefined) return { state: 'unusable', fault };
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    const faultNow = kindFault(found, maxBytes);
    if (faultNow !== undefined) return { state: 'unusable', fault: faultNow };
    const bytes = readAll(file, found.size, maxBytes);
    if (bytes === undefined) return { state: 'unusable', fault: tooBig(maxBytes) };
    return { state: 'read', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (cause) {
    if (cause instanceof TypeError) return { state: 'unusable', fault: 'not valid UTF-8' };
    throw cause;
  } finally {
    closeSync(file);
  }
}

function tooBig(maxBytes: number): string {
  return `is larger than ${maxBytes / 2 ** 20} MiB; the file is ignored`;
}

function kindFault(
  found: Pick<Stats, 'isFile' | 'isDirectory' | 'size'>,
  maxBytes: number,
): string | undefined {
  if (found.isDirectory()) return FAULTS.EISDIR;
  if (!found.isFile()) return FAULTS.ENXIO;
  return found.size > maxBytes ? tooBig(maxBytes) : undefined;
}

/** Reads to the end, which may be beyond the given size; undefined if the file is too large. */
function readAll(file: number, size: number, maxBytes: number): Uint8Array | undefined {
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    length += count;
    if (count === 0) return bytes.subarray(0, length);
    if (length > maxBytes) return undefined;
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(length * 2, maxBytes + 1));
  }
}

function leadsOut(path: string, within: string | undefined): boolean {
  return within !== undefined && !isWithin(path, realPath(within));
}

function outOf(within: string | undefined): string {
  return `is a symbolic link to a path outside of ${within}; such links are not followed`;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
}

/** The canonical path of a file; of a missing file, the canonical path of the nearest existing directory and the rest. */
export function realPath(path: string): string {
  const full = resolve(path);
  const parent = dirname(full);
  try {
    if (statSync(full, { throwIfNoEntry: false })) return realpathSync.native(full);
  } catch {}
  return parent === full ? full : join(realPath(parent), basename(full));
}

/** Whether the path is the directory or below it; both must be resolved. */
export function isWithin(path: string, directory: string): boolean {
  const steps = relative(directory, path);
  return steps === '' || (steps !== '..' && !steps.startsWith(`..${sep}`) && !isAbsolute(steps));
}
