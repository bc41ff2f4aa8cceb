import type { ProcessGroup } from '../../../base/process/process-group.ts';

const POLL_INTERVAL_MS = 1000;

/** What commands of a session left running in the background: it ends with the session. */
export class BackgroundProcesses implements AsyncDisposable {
  readonly #forgets = new Map<ProcessGroup, () => void>();
  readonly #afterwards: readonly AsyncDisposable[];

  /** `afterwards` is disposed of when no command can use it any more. */
  constructor(...afterwards: readonly AsyncDisposable[]) {
    this.#afterwards = afterwards;
  }

  /** `onGone` is called when it has ended: its number may then become that of another program. */
  add(group: ProcessGroup, onGone: () => void): void {
    const look = setInterval(() => {
      if (!group.isRunning()) this.#forget(group);
    }, POLL_INTERVAL_MS);
    look.unref();
    this.#forgets.set(group, () => {
      clearInterval(look);
      onGone();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#forgets.keys()].map(async (group) => {
        await group.end();
        this.#forget(group);
      }),
    );
    await Promise.all(this.#afterwards.map((it) => it[Symbol.asyncDispose]()));
  }

  #forget(group: ProcessGroup): void {
    const forget = this.#forgets.get(group);
    this.#forgets.delete(group);
    forget?.();
  }
}
