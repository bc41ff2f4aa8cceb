import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';

/** The kinds of messages in a team; all except `message` belong to its protocol. */
export const MESSAGE_KINDS = [
  'message',
  'idle',
  'plan_submission',
  'plan_approval_response',
  'shutdown_request',
  'shutdown_response',
] as const;

export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** A message between the lead and its teammates. */
export type TeamMessage = {
  /** Messages with the same id are one message. */
  readonly id: string;
  readonly from: string;
  readonly kind: MessageKind;
  readonly text: string;
  /** The request that is made or answered. */
  readonly requestId?: string;
  /** The answer to a request. */
  readonly isApproved?: boolean;
};

/**
 * The result of sending: `known` if the mailbox already has a message with this id, `full` if it accepts no more
 * messages.
 */
type Sent = 'sent' | 'known' | 'full' | 'too-large';

const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_PENDING = 1_000;
/** Read messages that are kept, so that they are recognized when they are sent again. */
const MAX_READ = 1_000;

/**
 * The messages of one recipient in a directory: a file per message, in `new` until it is acknowledged, then in `read`.
 * Several processes may send at once. A message is given out until it is acknowledged, so it arrives at least once.
 */
export class Mailbox {
  readonly #directory: string;
  /** The names of messages that were given out and not acknowledged or returned. */
  readonly #taken = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  send(message: TeamMessage): Sent {
    const text = `${JSON.stringify(message)}\n`;
    if (Buffer.byteLength(text) > MAX_MESSAGE_BYTES) return 'too-large';
    for (const folder of ['new', 'read'])
      mkdirSync(join(this.#directory, folder), { recursive: true, mode: 0o700 });
    return withFileLock(join(this.#directory, '.lock'), (replace) => {
      const pending = this.#names('new');
      const read = this.#names('read');
      const ending = endingOf(message.id);
      if ([...pending, ...read].some((name) => name.endsWith(ending))) return 'known';
      if (pending.length >= MAX_PENDING) return 'full';
      const numbers = [pending.at(-1), read.at(-1)].map((name) => Number(name?.slice(0, NUMBER_LENGTH) ?? 0));
      const number = String(Math.max(...numbers) + 1).padStart(NUMBER_LENGTH, '0');
      replace(join(this.#directory, 'new', `${number}${ending}`), text);
      return 'sent';
    });
  }

  /** Whether `take` would return messages. */
  get hasMessages(): boolean {
    return this.#names('new').some((name) => !this.#taken.has(name));
  }

  /** The messages that have not been taken, oldest first. */
  take(): readonly TeamMessage[] {
    return this.#names('new').flatMap((name) => {
      if (this.#taken.has(name)) return [];
      const message = readMessage(join(this.#directory, 'new', name));
      if (!message) return [];
      this.#taken.set(name, message.id);
      return [message];
    });
  }

  /** Marks taken messages as processed, so that they are not given out again. */
  acknowledge(ids: readonly string[]): void {
    for (const [name, id] of this.#taken) {
      if (!ids.includes(id)) continue;
      this.#taken.delete(name);
      try {
        renameSync(join(this.#directory, 'new', name), join(this.#directory, 'read', name));
      } catch (cause) {
        // Another process has acknowledged it.
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
      }
    }
    for (const name of this.#names('read').slice(0, -MAX_READ))
      rmSync(join(this.#directory, 'read', name), { force: true });
  }

  /** Marks taken messages as not processed, so that they are given out again. */
  giveBack(ids: readonly string[]): void {
    for (const [name, id] of this.#taken) if (ids.includes(id)) this.#taken.delete(name);
  }

  #names(folder: 'new' | 'read'): string[] {
    try {
      return readdirSync(join(this.#directory, folder)).filter(isMessageName).sort();
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw cause;
    }
  }
}

const NUMBER_LENGTH = 9;

function isMessageName(name: string): boolean {
  return /^\d{9}-[0-9a-f]{32}\.json$/.test(name);
}

/** The end of the file name of a message, which its id determines. */
function endingOf(id: string): string {
  return `-${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`;
}

/** Reads a message; undefined for a file that is not a message. */
function readMessage(path: string): TeamMessage | undefined {
  try {
    if (statSync(path).size > MAX_MESSAGE_BYTES) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(value)) return undefined;
    const { id, from, kind, text, requestId, isApproved } = value;
    const isValid =
      [id, from, text].every((it) => typeof it === 'string') &&
      (MESSAGE_KINDS as readonly unknown[]).includes(kind) &&
      (requestId === undefined || typeof requestId === 'string') &&
      (isApproved === undefined || typeof isApproved === 'boolean');
    return isValid ? (value as TeamMessage) : undefined;
  } catch {
    return undefined;
  }
}
