import { messageOf } from '../protocol/sdk-error.ts';

/** The inbox cannot be opened. */
export class InboxError extends Error {
  override readonly name = 'InboxError';

  constructor(path: string, cause: unknown) {
    super(`the channel inbox ${path} cannot be opened: ${storageFault(cause)}`, { cause });
  }
}

/** Whether another process that writes is the reason of the error: the operation may succeed a moment later. */
export function isLocked(cause: unknown): boolean {
  return sqliteCode(cause instanceof InboxError ? cause.cause : cause) === SQLITE_BUSY;
}

/** Whether the disk is full, or the inbox has reached its maximum size. */
export function isFull(cause: unknown): boolean {
  return sqliteCode(cause) === SQLITE_FULL;
}

/** Why the inbox cannot be read or written, and what to do. */
export function storageFault(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE')
    return 'this runtime has no node:sqlite; use Node 22.19 or later';
  const known = SQLITE_FAULTS.get(sqliteCode(cause) ?? 0);
  if (known !== undefined) return known;
  if (code === 'ENOSPC') return SQLITE_FAULTS.get(SQLITE_FULL) ?? '';
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return SQLITE_FAULTS.get(SQLITE_READONLY) ?? '';
  return messageOf(cause);
}

/** The kind of an error of SQLite: the lower byte of its code; the rest says where it occurred. */
function sqliteCode(cause: unknown): number | undefined {
  const { errcode } = cause instanceof Error && 'errcode' in cause ? cause : { errcode: undefined };
  return typeof errcode === 'number' ? errcode & 0xff : undefined;
}

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;
const SQLITE_FAULTS: ReadonlyMap<number, string> = new Map([
  [SQLITE_BUSY, 'another process keeps it locked; end that process'],
  [SQLITE_READONLY, 'it or its directory is read-only; make both writable'],
  [10, 'the disk reported an error; check the disk and its free space'],
  [11, 'it is damaged; move it away to start with an empty inbox'],
  [
    SQLITE_FULL,
    'the disk is full, or the inbox has reached its maximum size; free disk space, or delete messages with toolplane channels purge (see --help)',
  ],
  [14, 'it or its directory is not accessible; check the owner and mode of both'],
  [26, 'it is not a database; move it away to start with an empty inbox'],
]);
