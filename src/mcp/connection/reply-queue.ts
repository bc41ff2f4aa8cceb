/** Written or posted at once; the others wait for these. */
const MOST_UNDER_WAY = 64;
const MOST_UNSETTLED = 10_000;
/** A reply that takes longer keeps no other from being sent. */
const SLOW_MS = 30_000;
/** An id is the server's and comes back in the reply: a long one counts as many. */
const ID_LENGTH = 1000;

type Waiting = { readonly start: () => void; readonly refuse: (fault: Error) => void };

/** Sends our answers to a server's requests in order, some at once and the rest after them; too many are refused. */
export class ReplyQueue {
  readonly #waiting: Waiting[] = [];
  #underWay = 0;
  #unsettled = 0;

  /** Whether another reply would have to wait. */
  get isBusy(): boolean {
    return this.#underWay >= MOST_UNDER_WAY;
  }

  send(id: unknown, write: () => Promise<void>): Promise<void> {
    const weight = typeof id === 'string' ? 1 + Math.floor(id.length / ID_LENGTH) : 1;
    if (this.#unsettled + weight > MOST_UNSETTLED) return Promise.reject(tooMany());
    this.#unsettled += weight;
    if (this.#underWay < MOST_UNDER_WAY) return this.#start(weight, write);
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        start: () => void this.#start(weight, write).then(resolve, reject),
        refuse: (fault) => {
          this.#unsettled -= weight;
          reject(fault);
        },
      });
    });
  }

  /** What waits is not sent any more. */
  close(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
  }

  #start(weight: number, write: () => Promise<void>): Promise<void> {
    let isUnderWay = true;
    this.#underWay++;
    const makeRoom = () => {
      if (!isUnderWay) return;
      isUnderWay = false;
      this.#underWay--;
      this.#waiting.shift()?.start();
    };
    const slow = setTimeout(makeRoom, SLOW_MS).unref();
    const done = () => {
      clearTimeout(slow);
      this.#unsettled -= weight;
      makeRoom();
    };
    const sent = write();
    sent.then(done, done);
    return sent;
  }
}

function tooMany(): Error {
  const text = `${MOST_UNSETTLED} answers wait for the server already`;
  return Object.assign(new Error(text), { code: 'not-reading', wasSent: false });
}

function closed(): Error {
  return Object.assign(new Error('the connection is closed'), { code: 'NOT_CONNECTED', wasSent: false });
}
