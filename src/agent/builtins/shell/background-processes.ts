import type { ProcessGroup } from '../../../base/process/process-group.ts';
import { isWithin } from '../../../config/files/read-text.ts';

const POLL_INTERVAL_MS = 1000;

/** Background processes that commands of a session started; they are ended with the session. */
export class BackgroundProcesses implements AsyncDisposable {
  readonly #groups = new Map<ProcessGroup, { readonly directory: string; forget(): void }>();
  readonly #afterwards: readonly AsyncDisposable[];

  /** `afterwards` is disposed after all processes have ended. */
  constructor(...afterwards: readonly AsyncDisposable[]) {
    this.#afterwards = afterwards;
  }

  /**
   * `directory` is where the command of the group was started. `onGone` is called when the group has ended, because the
   * system may reuse its id.
   */
  add(group: ProcessGroup, directory: string, onGone: () => void): void {
    const poll = setInterval(() => {
      if (!group.isRunning()) this.#forget(group);
    }, POLL_INTERVAL_MS);
    poll.unref();
    const forget = () => {
      clearInterval(poll);
      onGone();
    };
    this.#groups.set(group, { directory, forget });
  }

  /** The running groups whose commands were started in a directory or below it. */
  runningIn(directory: string): readonly ProcessGroup[] {
    return [...this.#groups].flatMap(([group, started]) =>
      isWithin(started.directory, directory) && group.isRunning() ? [group] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#groups.keys()].map(async (group) => {
        await group.end();
        this.#forget(group);
      }),
    );
    await Promise.all(this.#afterwards.map((it) => it[Symbol.asyncDispose]()));
  }

  #forget(group: ProcessGroup): void {
    const found = this.#groups.get(group);
    this.#groups.delete(group);
    found?.forget();
  }
}
