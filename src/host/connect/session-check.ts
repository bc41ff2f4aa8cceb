import { isRpcError } from './explain.ts';
import { explainStatus } from './explain-status.ts';
import { readFailure } from './failure-facts.ts';
import { HostError } from './host-error.ts';
import type { Secrets } from './secrets.ts';
import { ServerFault } from './server-fault.ts';

/**
 * Whether a session is lost is asked, not guessed: by the same HTTP status a server says that it does not know the
 * session, and that it does not know what a call speaks of.
 */
export class SessionCheck {
  readonly #server: string;
  readonly #secrets: Secrets;
  readonly #ping: () => Promise<unknown>;
  #asking: Promise<'known' | 'lost' | 'unclear'> | undefined;

  /** `ping` asks for a sign of life in the session concerned. */
  constructor(server: string, secrets: Secrets, ping: () => Promise<unknown>) {
    this.#server = server;
    this.#secrets = secrets;
    this.#ping = ping;
  }

  /** What a request of that method is told that failed as if the session were lost; those that fail meanwhile share one ping. */
  async confirm(fault: HostError, method: string): Promise<Error> {
    this.#asking ??= this.#ask();
    const verdict = await this.#asking;
    if (verdict === 'lost') return fault;
    const facts = readFailure(fault.cause);
    const { status = 0, said } = facts;
    if (verdict === 'known') {
      const own = explainStatus(this.#server, facts, status, false);
      if (own instanceof ServerFault) return own;
      const words = `${this.#secrets.brief(said)} (HTTP ${status} to "${method}", though it knows our session)`;
      return new HostError('unreachable', this.#server, `${words}; ${SEE}`, { cause: fault.cause });
    }
    const words = `it does not seem to know our session any more (HTTP ${status}), and a ping says no more`;
    return new HostError('session-lost', this.#server, `${words}; ${SEE}`, {
      cause: fault.cause,
      isTerminal: true,
    });
  }

  async #ask(): Promise<'known' | 'lost' | 'unclear'> {
    try {
      await this.#ping();
      return 'known';
    } catch (failure) {
      if (isSessionLost(failure)) return 'lost';
      // Whoever does not know pings, but says so, knows the session.
      return isRpcError(failure) ? 'known' : 'unclear';
    } finally {
      this.#asking = undefined;
    }
  }
}

const SEE = 'see what the request did before you repeat it';

export function isSessionLost(failure: unknown): failure is HostError {
  return failure instanceof HostError && failure.code === 'session-lost';
}
