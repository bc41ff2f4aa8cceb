import { messageOf } from '../protocol/sdk-error.ts';
import type { Inbox } from './inbox.ts';
import { InboxError, isLocked, storageFault } from './inbox-error.ts';

/** How long nothing is written after an error. */
const RETRY_MS = 2_000;
/** How long nothing is written while another process writes. */
export const LOCKED_RETRY_MS = 50;
/** A process that writes for longer is reported. */
export const MAX_LOCKED_MS = 5_000;

/** An inbox whose errors are reported instead of thrown: each kind once, until everything that waited is written. */
export class GuardedInbox implements Disposable {
  readonly #report: (text: string) => void;
  readonly #retry: () => void;
  readonly #reported = new Set<string>();
  #inbox: Inbox | undefined;
  /** When the inbox is written again after an error; since when another process has kept it locked. In monotonic time. */
  #retryAt = Number.NEGATIVE_INFINITY;
  #lockedSince: number | undefined;
  #lockTimer: NodeJS.Timeout | undefined;

  /** `retry` is called soon after an operation failed because another process wrote; it must write something. */
  constructor(report: (text: string) => void, retry: () => void) {
    this.#report = report;
    this.#retry = retry;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#lockTimer);
    this.#inbox?.[Symbol.dispose]();
    this.#inbox = undefined;
  }

  get isOpen(): boolean {
    return this.#inbox !== undefined;
  }

  /** Whether the pause after an error is over. */
  get isDue(): boolean {
    return performance.now() > this.#retryAt;
  }

  /** Whether the last write failed because another process writes. */
  get isLocked(): boolean {
    return this.#lockedSince !== undefined;
  }

  async open(openInbox: () => Promise<Inbox>): Promise<boolean> {
    try {
      this.#inbox = await openInbox();
      this.#retryAt = Number.NEGATIVE_INFINITY;
      return true;
    } catch (cause) {
      this.#fail(cause);
      return false;
    }
  }

  /** Undefined if the inbox is not open, or if it cannot be read. */
  read<T>(work: (inbox: Inbox) => T): T | undefined {
    if (!this.#inbox) return undefined;
    try {
      return work(this.#inbox);
    } catch (cause) {
      this.#fail(cause);
      return undefined;
    }
  }

  /** Like `read`; only a write shows that the inbox can be written again. */
  write<T>(work: (inbox: Inbox) => T): T | undefined {
    const result = this.read((inbox) => ({ value: work(inbox) }));
    if (!result) return undefined;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    this.#lockedSince = undefined;
    return result.value;
  }

  /** Called when nothing waits to be written: the next error is a new one. */
  recovered(): void {
    this.#reported.clear();
  }

  #fail(cause: unknown): void {
    const now = performance.now();
    if (isLocked(cause)) {
      this.#lockedSince ??= now;
      if (now - this.#lockedSince < MAX_LOCKED_MS) {
        this.#retryAt = now + LOCKED_RETRY_MS;
        clearTimeout(this.#lockTimer);
        this.#lockTimer = setTimeout(this.#retry, LOCKED_RETRY_MS + 1);
        return;
      }
    }
    this.#retryAt = now + RETRY_MS;
    const why =
      cause instanceof InboxError
        ? messageOf(cause)
        : `the channel inbox ${this.#inbox?.path} cannot be written: ${storageFault(cause)}`;
    if (this.#reported.has(why)) return;
    this.#reported.add(why);
    this.#report(`${why}. Messages are not acknowledged until the inbox can be written`);
  }
}
