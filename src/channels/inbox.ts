import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { PushedMessage } from './channel-message.ts';
import { ConversationRegistry, type Owner } from './conversation-registry.ts';
import type { WaitingMessage } from './fair-batch.ts';
import { type InboxAccess, openInboxDatabase } from './inbox-database.ts';
import { InboxError, isFull } from './inbox-error.ts';
import {
  type MessageFilter,
  type MessageState,
  type StoredMessage,
  toStored,
  whereOf,
} from './stored-message.ts';

/** A message to be stored. */
export type NewMessage = PushedMessage & {
  readonly source: string;
  readonly state: 'pending' | 'quarantined';
  readonly reason?: string;
};

/** Whether a message is stored now, was stored before, or is refused: too many are pending, or another one has its id. */
export type Admitted =
  | { readonly kind: 'admitted' | 'duplicate'; readonly id: string; readonly state: MessageState }
  | { readonly kind: 'quota' | 'conflict'; readonly id: string };

/** What one source of a project may have, and how long messages are kept. */
export type InboxLimits = {
  /** Pending messages; further ones are refused. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** Quarantined messages; further ones replace the oldest. */
  readonly maxQuarantined: number;
  readonly maxQuarantinedBytes: number;
  readonly maxAgeMs: number;
  /** The maximum size of the database. */
  readonly maxFileBytes: number;
};

export const INBOX_LIMITS: InboxLimits = {
  maxWaiting: 50_000,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxQuarantined: 1_000,
  maxQuarantinedBytes: 8 * 1024 * 1024,
  maxAgeMs: 7 * 24 * 60 * 60 * 1000,
  maxFileBytes: 1024 * 1024 * 1024,
};

/** A source with the number of its messages in each state, and of those that were refused. */
export type SourceSummary = {
  readonly project: string;
  readonly source: string;
  readonly counts: Readonly<Record<MessageState | 'refused', number>>;
  readonly lastAt: number;
};

/** How many messages are read at once. */
const PAGE = 1_000;

/** How many delivered messages are deleted at once to make space in a full inbox. */
const DROPPED_AT_ONCE = 2_000;

/**
 * The messages that channels have received, in a SQLite database that all processes of the user share. A change is on
 * disk when the method that makes it returns. The methods throw errors of the disk.
 */
export class Inbox implements Disposable {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #conversations: ConversationRegistry;
  readonly #limits: InboxLimits;
  readonly #now: () => number;
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  constructor(path: string, db: DatabaseSync, limits: InboxLimits, now: () => number) {
    this.path = path;
    this.#db = db;
    this.#limits = limits;
    this.#now = now;
    this.#conversations = new ConversationRegistry(db, now);
  }

  /** Opens the inbox in a directory, which is created if needed. */
  static async open(
    directory: string,
    {
      limits = INBOX_LIMITS,
      now = Date.now,
      ...access
    }: { limits?: InboxLimits; now?: () => number } & Omit<InboxAccess, 'maxFileBytes'> = {},
  ): Promise<Inbox> {
    const path = join(directory, 'inbox.db');
    try {
      const db = await openInboxDatabase(path, { ...access, maxFileBytes: limits.maxFileBytes });
      return new Inbox(path, db, limits, now);
    } catch (cause) {
      throw new InboxError(path, cause);
    }
  }

  [Symbol.dispose](): void {
    this.#conversations[Symbol.dispose]();
    if (this.#db.isOpen) this.#db.close();
  }

  /** A number that changes when another process has changed the inbox. */
  get version(): number {
    return Number(this.#get('PRAGMA data_version')?.data_version);
  }

  /**
   * Registers a conversation as running here, and again at least every minute while it runs. False if it runs elsewhere:
   * two processes may have resumed it, and only one receives its messages.
   */
  enter(owner: Owner): boolean {
    return this.#transaction(() => this.#conversations.enter(owner));
  }

  /** Where a conversation runs; undefined if it does not, or if it must be registered again. */
  holder(conversation: string): 'this' | 'other' | undefined {
    return this.#conversations.holder(conversation);
  }

  /** Ends a conversation; another one of the project may receive its pending messages. */
  leave(conversation: string): void {
    this.#conversations.leave(conversation);
  }

  /**
   * Stores messages in order, in one transaction. A message is a duplicate if its conversation has one of the same source
   * and id, or if a conversation that has ended has the same message.
   */
  admit({ project, conversation }: Owner, messages: readonly NewMessage[]): Admitted[] {
    return this.#withSpace(() => messages.map((it) => this.#admitOne(project, conversation, it)));
  }

  /**
   * Stores a message for whichever conversation of the project accepts messages of the source next. It is a duplicate if
   * any conversation of the project has one of the same source and id.
   */
  post(project: string, message: NewMessage): Admitted {
    return this.#withSpace(() => this.#admitOne(project, null, message));
  }

  /**
   * Gives a conversation the pending messages of these sources that no running conversation of the project has. Copies of
   * a message count as delivered if the conversation has the message already.
   */
  adopt({ project, conversation }: Owner, sources: readonly string[]): number {
    return this.#transaction(() => {
      const holders = this.#all(
        `SELECT conversation FROM message WHERE project = ? AND state = 'pending'
         GROUP BY conversation ORDER BY min(seq)`,
        project,
      ).map((row) => row.conversation as string | null);
      const ended = holders.filter(
        (id) => id !== conversation && (id === null || !this.#conversations.isRunning(id)),
      );
      const held = `project = ? AND state = 'pending' AND conversation IS ?
        AND source IN (SELECT value FROM json_each(?))`;
      const adopted = ended.map((holder) => {
        const values = [project, holder, JSON.stringify(sources)];
        this.#run(
          `UPDATE message AS it SET state = 'delivered' WHERE ${held} AND EXISTS (
             SELECT 1 FROM message AS other WHERE other.project = it.project AND other.source = it.source
             AND other.id = it.id AND other.content = it.content AND other.meta = it.meta
             AND other.state IN ('pending', 'delivered')
             AND (other.conversation = ? OR (other.conversation IS it.conversation AND other.seq < it.seq)))`,
          ...values,
          conversation,
        );
        return this.#run(`UPDATE message SET conversation = ? WHERE ${held}`, conversation, ...values);
      });
      return adopted.reduce((sum, count) => sum + count, 0);
    });
  }

  /** Gives the messages of a conversation to the one that continues it, unless the former runs elsewhere too. */
  transfer(from: string, { project, conversation }: Owner): void {
    this.#transaction(() => {
      this.enter({ project, conversation });
      if (this.holder(from) === 'other') return;
      this.#run(
        "UPDATE message SET conversation = ? WHERE project = ? AND conversation = ? AND state = 'pending'",
        conversation,
        project,
        from,
      );
      this.leave(from);
    });
  }

  /** The oldest pending messages of a conversation after a position, in order. */
  pending(conversation: Owner, sources: readonly string[], after: number, limit: number): StoredMessage[] {
    return this.#all(
      `SELECT * FROM message WHERE project = ? AND conversation = ? AND state = 'pending' AND seq > ?
       AND source IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`,
      conversation.project,
      conversation.conversation,
      after,
      JSON.stringify(sources),
      limit,
    ).map(toStored);
  }

  allPending(conversation: Owner, sources: readonly string[]): StoredMessage[] {
    const all: StoredMessage[] = [];
    for (let after = 0; ; after = all.at(-1)?.seq ?? after) {
      const page = this.pending(conversation, sources, after, PAGE);
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  }

  /** The oldest pending messages of one source, without their contents. */
  waiting({ project, conversation }: Owner, source: string, limit: number): WaitingMessage[] {
    return this.#all(
      `SELECT seq, bytes FROM message
       WHERE project = ? AND conversation = ? AND state = 'pending' AND source = ? ORDER BY seq LIMIT ?`,
      project,
      conversation,
      source,
      limit,
    ).map(({ seq, bytes }) => ({ seq: Number(seq), source, bytes: Number(bytes) }));
  }

  /** The messages at these positions, in order. */
  read(seqs: readonly number[]): StoredMessage[] {
    const values = JSON.stringify(seqs);
    return this.#all(
      'SELECT * FROM message WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq',
      values,
    ).map(toStored);
  }

  /** Marks messages as part of the conversation. */
  deliver(seqs: readonly number[]): void {
    const sql =
      "UPDATE message SET state = 'delivered' WHERE state = 'pending' AND seq IN (SELECT value FROM json_each(?))";
    this.#withSpace(() => this.#run(sql, JSON.stringify(seqs)));
  }

  /** Counts messages that were not stored, so that `toolplane channels list` shows them. */
  refuse(project: string, source: string, count: number): void {
    this.#run(
      `INSERT INTO total VALUES (?, ?, 'refused', ?, 0, ?)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at`,
      project,
      source,
      count,
      this.#now(),
    );
  }

  /**
   * Lets old pending messages expire, and deletes other old messages. An expired one is kept for the same time again, as
   * measured from its expiry: a clock that is wrong for a moment deletes nothing that waits.
   */
  expire(): void {
    const now = this.#now();
    const { maxAgeMs } = this.#limits;
    this.#transaction(() => {
      this.#run("DELETE FROM message WHERE state = 'expired' AND expired_at < ?", now - maxAgeMs);
      this.#run(
        "UPDATE message SET state = 'expired', expired_at = ? WHERE state = 'pending' AND at < ?",
        now,
        now - maxAgeMs,
      );
      this.#run("DELETE FROM message WHERE state = 'quarantined' AND at < ?", now - 2 * maxAgeMs);
      this.#run("DELETE FROM message WHERE state = 'delivered' AND at < ?", now - maxAgeMs);
      this.#run('DELETE FROM conversation WHERE seen_at < ?', now - maxAgeMs);
    });
  }

  summaries(project?: string): SourceSummary[] {
    const rows = this.#all(
      'SELECT project, source, state, count, last_at FROM total WHERE count > 0 ORDER BY project, source',
    ).filter((row) => project === undefined || row.project === project);
    const groups = Map.groupBy(rows, (row) => `${row.project}\0${row.source}`);
    return [...groups.values()].map((group) => {
      const counts = { pending: 0, delivered: 0, quarantined: 0, expired: 0, refused: 0 };
      for (const { state, count } of group) counts[state as keyof typeof counts] = Number(count);
      const [first] = group;
      return {
        project: String(first?.project),
        source: String(first?.source),
        counts,
        lastAt: Math.max(...group.map((row) => Number(row.last_at))),
      };
    });
  }

  /** The last messages that match, oldest first; with `after` the first ones after that position. */
  messages(filter: MessageFilter, limit: number, after?: number): StoredMessage[] {
    const { where, values } = whereOf(filter);
    if (after !== undefined) {
      const sql = `SELECT * FROM message WHERE ${where} AND seq > ? ORDER BY seq LIMIT ?`;
      return this.#all(sql, ...values, after, limit).map(toStored);
    }
    const sql = `SELECT * FROM message WHERE ${where} ORDER BY seq DESC LIMIT ?`;
    return this.#all(sql, ...values, limit)
      .map(toStored)
      .reverse();
  }

  /** Makes quarantined and expired messages pending; returns how many. */
  retry({ states = ['quarantined', 'expired'], ...filter }: MessageFilter): number {
    const retried = states.filter((it) => it === 'quarantined' || it === 'expired');
    const { where, values } = whereOf({ ...filter, states: retried });
    return this.#run(
      `UPDATE message SET state = 'pending', reason = NULL, conversation = NULL, at = ?, expired_at = NULL WHERE ${where}`,
      this.#now(),
      ...values,
    );
  }

  /** Deletes messages; returns how many. */
  purge(filter: MessageFilter): number {
    const { where, values } = whereOf(filter);
    return this.#run(`DELETE FROM message WHERE ${where}`, ...values);
  }

  #admitOne(project: string, conversation: string | null, message: NewMessage): Admitted {
    const { source, id = randomUUID(), content, state, reason } = message;
    const meta = JSON.stringify(message.meta);
    const known =
      message.id === undefined
        ? undefined
        : this.#findDuplicate(project, conversation, { source, id, content, meta, state });
    if (known && known.content !== content) return { kind: 'conflict', id };
    if (known) return { kind: 'duplicate', id, state: known.state };
    const bytes = Buffer.byteLength(content) + Buffer.byteLength(meta);
    if (!this.#makeRoom(project, source, state, bytes)) return { kind: 'quota', id };
    this.#run(
      `INSERT INTO message (project, source, id, conversation, at, state, reason, content, meta, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      project,
      source,
      id,
      conversation,
      this.#now(),
      state,
      reason ?? null,
      content,
      meta,
      bytes,
    );
    return { kind: 'admitted', id, state };
  }

  /** The stored message of which a message is a duplicate; one with other content if only the id is the same. */
  #findDuplicate(
    project: string,
    conversation: string | null,
    {
      source,
      id,
      content,
      meta,
      state,
    }: Pick<StoredMessage, 'source' | 'id' | 'content' | 'state'> & { readonly meta: string },
  ): Pick<StoredMessage, 'state' | 'content'> | undefined {
    const found = this.#all(
      'SELECT conversation, content, meta, state FROM message WHERE project = ? AND source = ? AND id = ?',
      project,
      source,
      id,
    ).filter((row) => {
      const isSame = row.content === content && row.meta === meta;
      // A quarantined message must not turn an accepted message with the same id into a duplicate.
      if ((row.state === 'quarantined') !== (state === 'quarantined'))
        return isSame && state === 'quarantined';
      if (conversation === null || row.conversation === conversation) return true;
      return (
        isSame && (row.conversation === null || !this.#conversations.isRunning(String(row.conversation)))
      );
    });
    const known = found.find((row) => row.content === content) ?? found[0];
    return known && { state: known.state as MessageState, content: String(known.content) };
  }

  /** Whether the source may have one more message. The oldest quarantined messages are deleted to make room. */
  #makeRoom(project: string, source: string, state: NewMessage['state'], bytes: number): boolean {
    const { maxWaiting, maxWaitingBytes, maxQuarantined, maxQuarantinedBytes } = this.#limits;
    const [maxCount, maxBytes] =
      state === 'quarantined' ? [maxQuarantined, maxQuarantinedBytes] : [maxWaiting, maxWaitingBytes];
    for (;;) {
      const used = this.#get(
        'SELECT count, bytes FROM total WHERE project = ? AND source = ? AND state = ?',
        project,
        source,
        state,
      );
      if (Number(used?.count ?? 0) < maxCount && Number(used?.bytes ?? 0) + bytes <= maxBytes) return true;
      if (state !== 'quarantined') return false;
      const dropped = this.#run(
        `DELETE FROM message WHERE seq =
           (SELECT min(seq) FROM message WHERE project = ? AND source = ? AND state = 'quarantined')`,
        project,
        source,
      );
      if (dropped === 0) return false;
    }
  }

  /** A transaction that needs space. If there is none, the oldest delivered messages are deleted. */
  #withSpace<T>(work: () => T): T {
    try {
      return this.#transaction(work);
    } catch (cause) {
      if (this.#db.isTransaction || !isFull(cause) || !this.#dropDelivered()) throw cause;
      return this.#transaction(work);
    }
  }

  /**
   * Deletes the oldest delivered messages; false if there are none, or if the disk has no space for the deletion
   * itself.
   */
  #dropDelivered(): boolean {
    try {
      const dropped = this.#run(
        `DELETE FROM message WHERE seq IN
           (SELECT seq FROM message WHERE state = 'delivered' ORDER BY seq LIMIT ?)`,
        DROPPED_AT_ONCE,
      );
      return dropped > 0;
    } catch {
      return false;
    }
  }

  #transaction<T>(work: () => T): T {
    // Inside another transaction, the outer one decides.
    if (this.#db.isTransaction) return work();
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (cause) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw cause;
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  #get(sql: string, ...values: SQLInputValue[]) {
    return this.#prepare(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]) {
    return this.#prepare(sql).all(...values);
  }

  #prepare(sql: string): ReturnType<DatabaseSync['prepare']> {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
