import type { ProcessGroup } from '../../../base/process/process-group.ts';

const POLL_INTERVAL_MS = 1000;

/** Background processes that commands of a session started; they are ended with the session. */
export class BackgroundProcesses implements AsyncDisposable {
  readonly #forgets = new Map<ProcessGroup, () => void>();
  readonly #afterwards: readonly AsyncDisposable[];

  /** `afterwards` is disposed after all processes have ended. */
  constructor(...afterwards: readonly AsyncDisposable[]) {
    this.#afterwards = afterwards;
  }

  /** `onGone` is called when the group has ended, because the system may reuse its id. */
  add(group: ProcessGroup, onGone: () => void): void {
    const poll = setInterval(() => {
      if (!group.isRunning()) this.#forget(group);
    }, POLL_INTERVAL_MS);
    poll.unref();
    this.#forgets.set(group, () => {
      clearInterval(poll);
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
