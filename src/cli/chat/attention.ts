import type { Terminal } from '../terminal/terminal.ts';

/** The end of a turn that took at least this long is signaled. */
const LONG_TURN_MS = 10_000;

/**
 * Signals with a bell and a notification of the terminal that the chat needs its user, who may look at something else.
 * Without a terminal nothing is signaled.
 */
export class Attention {
  readonly #terminal: Pick<Terminal, 'isInteractive' | 'notify' | 'now'>;

  constructor(terminal: Pick<Terminal, 'isInteractive' | 'notify' | 'now'>) {
    this.#terminal = terminal;
  }

  notify(text: string): void {
    if (this.#terminal.isInteractive) this.#terminal.notify(`Toolplane: ${text}`);
  }

  /** Signals the end of a turn that began at `since`, unless it was short. */
  turnEnded(since: number): void {
    if (this.#terminal.now() - since >= LONG_TURN_MS) this.notify('Turn finished');
  }
}
