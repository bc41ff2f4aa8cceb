/** What a session is doing, as programs are told. */
export type SessionState = 'idle' | 'running' | 'requires_action';

/** Tells every change of state once: running, waiting for somebody, idle. */
export class StateTeller {
  readonly #tell: (state: SessionState) => void;
  #state: SessionState = 'idle';
  #waits = 0;

  constructor(tell: (state: SessionState) => void) {
    this.#tell = tell;
  }

  get state(): SessionState {
    return this.#state;
  }

  enter(state: SessionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell(state);
  }

  /** While any such work lasts, the session waits for somebody. */
  async waiting<T>(work: Promise<T>): Promise<T> {
    this.#waits++;
    if (this.#state === 'running') this.enter('requires_action');
    try {
      return await work;
    } finally {
      this.#waits--;
      if (this.#waits === 0 && this.#state === 'requires_action') this.enter('running');
    }
  }
}
