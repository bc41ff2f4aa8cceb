import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { isLocked } from './inbox-error.ts';

/** How an inbox is opened. */
export type InboxAccess = {
  /** `read`: nothing is written, so that the disk may be full or read-only. */
  readonly access?: 'read' | 'write';
  /** How long an operation waits, without returning, for another process that writes. */
  readonly lockWaitMs?: number;
  /** The maximum size of the database. */
  readonly maxFileBytes: number;
};

/** The default of `lockWaitMs`: short, because the wait blocks the agent, which tries again later. */
const LOCK_WAIT_MS = 25;
const SCHEMA_VERSION = 3;
/** An inbox of this version is read as it is, and gets the new column when it is opened for writing. */
const EARLIER_VERSION = 2;

const SCHEMA = `
  CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL, source TEXT NOT NULL, id TEXT NOT NULL,
    -- The conversation that receives it; null until one takes it over.
    conversation TEXT,
    at INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT,
    content TEXT NOT NULL, meta TEXT NOT NULL, bytes INTEGER NOT NULL,
    expired_at INTEGER
  ) STRICT;
  CREATE INDEX message_id ON message (project, source, id);
  CREATE INDEX message_pending ON message (project, conversation, source, seq) WHERE state = 'pending';
  CREATE INDEX message_delivered ON message (seq) WHERE state = 'delivered';
  CREATE INDEX message_quarantined ON message (project, source, seq) WHERE state = 'quarantined';
  CREATE INDEX message_at ON message (at);
  CREATE TABLE conversation (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL, process TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
  -- The messages of each source by state, and as "refused" those that were not stored.
  CREATE TABLE total (
    project TEXT NOT NULL, source TEXT NOT NULL, state TEXT NOT NULL,
    count INTEGER NOT NULL, bytes INTEGER NOT NULL, last_at INTEGER NOT NULL,
    PRIMARY KEY (project, source, state)
  ) STRICT;
  CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
    INSERT INTO total VALUES (new.project, new.source, new.state, 1, new.bytes, new.at)
      ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes, last_at = excluded.last_at;
  END;
  CREATE TRIGGER message_deleted AFTER DELETE ON message BEGIN
    UPDATE total SET count = count - 1, bytes = bytes - old.bytes
      WHERE project = old.project AND source = old.source AND state = old.state;
  END;
  CREATE TRIGGER message_changed AFTER UPDATE OF state ON message BEGIN
    UPDATE total SET count = count - 1, bytes = bytes - old.bytes
      WHERE project = old.project AND source = old.source AND state = old.state;
    INSERT INTO total VALUES (new.project, new.source, new.state, 1, new.bytes, new.at)
      ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes, last_at = excluded.last_at;
  END;
  PRAGMA user_version = ${SCHEMA_VERSION};`;

const MIGRATION = `
  ALTER TABLE message ADD COLUMN expired_at INTEGER;
  UPDATE message SET expired_at = at WHERE state = 'expired';
  DROP INDEX message_pending;
  CREATE INDEX message_pending ON message (project, conversation, source, seq) WHERE state = 'pending';
  CREATE INDEX IF NOT EXISTS message_delivered ON message (seq) WHERE state = 'delivered';
  PRAGMA user_version = ${SCHEMA_VERSION};`;

/** Opens the database, which is created if needed, readable by its owner only. */
export async function openInboxDatabase(
  path: string,
  { access = 'write', lockWaitMs = LOCK_WAIT_MS, maxFileBytes }: InboxAccess,
): Promise<DatabaseSync> {
  const { DatabaseSync } = await import('node:sqlite');
  const connect = (location: string | URL, readOnly: boolean) =>
    checked(new DatabaseSync(location, { timeout: lockWaitMs, readOnly }));
  if (access === 'read' && existsSync(path)) {
    try {
      return connect(path, true);
    } catch (cause) {
      // Without files of a writer, SQLite reads a database in a read-only directory only if it is declared immutable.
      if (existsSync(`${path}-wal`)) throw cause;
      const location = pathToFileURL(path);
      location.searchParams.set('immutable', '1');
      return connect(location, true);
    }
  }
  try {
    createFile(path);
  } catch (cause) {
    if (access === 'write' || !isMissing(path)) throw cause;
    const empty = new DatabaseSync(':memory:');
    empty.exec(SCHEMA);
    return empty;
  }
  const db = connect(path, false);
  try {
    prepareToWrite(db, maxFileBytes);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

/** Creates the file and its directory if needed, and removes the permissions of other users. */
function createFile(path: string): void {
  createDirectory(dirname(path));
  const file = openSync(path, 'a', 0o600);
  try {
    // The other files of the database get the mode of this one.
    if ((fstatSync(file).mode & 0o077) !== 0) fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

function createDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    // On a read-only disk, Node reports that the directory does not exist.
    let parent = path;
    while (!existsSync(parent)) parent = dirname(parent);
    try {
      accessSync(parent, constants.W_OK);
    } catch {
      throw new Error(`${parent} is read-only; make it writable`, { cause });
    }
    throw cause;
  }
}

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  }
}

/** Whether a process has the database open: SQLite ends the WAL mode of a database only if there is no other connection. */
export async function isInboxOpen(path: string): Promise<boolean> {
  const { DatabaseSync } = await import('node:sqlite');
  try {
    using db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    db.exec('PRAGMA journal_mode = DELETE');
    return false;
  } catch (cause) {
    // Other errors, such as that of a damaged database, do not show a connection.
    return isLocked(cause);
  }
}

/** Returns the database; if this version cannot read it, closes it and throws. */
function checked(db: DatabaseSync): DatabaseSync {
  try {
    const version = versionOf(db);
    if (version > SCHEMA_VERSION)
      throw new Error(
        'it was written by a newer version of Toolplane; update Toolplane, or move the file away',
      );
    if (version !== 0 && version < EARLIER_VERSION)
      throw new Error(
        'it was written by an earlier version of Toolplane, which this version cannot read; move the file away',
      );
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

function prepareToWrite(db: DatabaseSync, maxFileBytes: number): void {
  // With "full", a commit returns after the disk has confirmed the write.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').get() as { page_size: number };
  db.exec(`PRAGMA max_page_count = ${Math.ceil(maxFileBytes / pageBytes)}`);
  if (versionOf(db) === SCHEMA_VERSION) return;
  db.exec('BEGIN IMMEDIATE');
  // Another process may have created the tables meanwhile.
  const version = versionOf(db);
  if (version === 0) db.exec(SCHEMA);
  if (version === EARLIER_VERSION) db.exec(MIGRATION);
  db.exec('COMMIT');
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
