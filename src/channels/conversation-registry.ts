import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';

/** The conversation that receives messages, and the directory of its project. */
export type Owner = { readonly project: string; readonly conversation: string };

/** A conversation whose process has not been seen for this long is considered ended. */
const UNSEEN_MS = 60_000;

/** The ids of the registries that this process has open. */
const OPEN = new Set<string>();

/** The running conversations of all processes, in the database of the inbox. */
export class ConversationRegistry implements Disposable {
  /** Identifies the holder of a conversation, also if another process gets the pid of this one later. */
  readonly #id = randomUUID();
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  #find: ReturnType<DatabaseSync['prepare']> | undefined;

  constructor(db: DatabaseSync, now: () => number) {
    this.#db = db;
    this.#now = now;
    OPEN.add(this.#id);
  }

  [Symbol.dispose](): void {
    OPEN.delete(this.#id);
  }

  /** Registers a conversation; false if it runs elsewhere. Called in a transaction. */
  enter({ project, conversation }: Owner): boolean {
    if (this.holder(conversation) === 'other') return false;
    this.#db
      .prepare(
        `INSERT INTO conversation (id, project, pid, host, process, seen_at) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET pid = excluded.pid, host = excluded.host, process = excluded.process,
           seen_at = excluded.seen_at`,
      )
      .run(conversation, project, process.pid, hostname(), this.#id, this.#now());
    return true;
  }

  leave(conversation: string): void {
    this.#db.prepare('DELETE FROM conversation WHERE id = ? AND process = ?').run(conversation, this.#id);
  }

  /** Where a conversation runs. A registration that may soon count as ended, such as after a suspension, is none. */
  holder(conversation: string): 'this' | 'other' | undefined {
    const found = this.#row(conversation);
    if (found?.process !== this.#id) return found && this.#isHeld(found) ? 'other' : undefined;
    return Number(found.seen_at) < this.#now() - UNSEEN_MS / 2 ? undefined : 'this';
  }

  isRunning(conversation: string): boolean {
    const found = this.#row(conversation);
    return found !== undefined && this.#isHeld(found);
  }

  #isHeld({ seen_at, host, process: id, pid }: Record<string, unknown>): boolean {
    if (Number(seen_at) < this.#now() - UNSEEN_MS) return false;
    if (host !== hostname() || OPEN.has(String(id))) return true;
    return Number(pid) !== process.pid && isProcess(Number(pid));
  }

  #row(conversation: string): Record<string, unknown> | undefined {
    this.#find ??= this.#db.prepare('SELECT * FROM conversation WHERE id = ?');
    return this.#find.get(conversation);
  }
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}
