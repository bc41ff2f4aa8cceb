import type { Secrets } from '../connection/secrets.ts';
import {
  explainStatus,
  type FailureFacts,
  isRpcError,
  readFailure,
  readRpcError,
} from './classify-failure.ts';
import { HostError, ServerFault } from './host-error.ts';

/**
 * Whether a session is lost is asked, not guessed: by the same HTTP status a server says that it does not know the
 * session, and that it does not know what a call speaks of.
 */
export class SessionCheck {
  readonly #server: string;
  readonly #secrets: Secrets;
  readonly #ping: () => Promise<unknown>;
  #asking: Promise<Pinged> | undefined;

  /** `ping` asks for a sign of life in the session concerned. */
  constructor(server: string, secrets: Secrets, ping: () => Promise<unknown>) {
    this.#server = server;
    this.#secrets = secrets;
    this.#ping = ping;
  }

  /** What a request of that method is told that failed as if the session were lost; those that fail meanwhile share one ping. */
  async confirm(fault: HostError, method: string): Promise<Error> {
    this.#asking ??= this.#ask();
    const pinged = await this.#asking;
    const facts = readFailure(fault.cause);
    if (pinged.kind === 'refused' && isSame(pinged, facts)) return fault;
    const { status = 0, said } = facts;
    if (pinged.kind === 'refused' && pinged.status === status && status !== 400) {
      const words = `${this.#secrets.brief(said)}; a ping is refused by HTTP ${status} too, so a new session is made`;
      return new HostError('session-lost', this.#server, words, { cause: fault.cause, isTerminal: true });
    }
    if (pinged.kind === 'unclear') {
      const words = `it may not know our session any more (HTTP ${status}), and a ping says no more`;
      return new HostError('unreachable', this.#server, `${words}; ${SEE}`, { cause: fault.cause });
    }
    const own = explainStatus(this.#server, facts, status);
    if (own instanceof ServerFault) return own;
    const words = `${this.#secrets.brief(said)} (HTTP ${status} to "${method}", though it knows our session)`;
    return new HostError('unreachable', this.#server, `${words}; ${SEE}`, { cause: fault.cause });
  }

  async #ask(): Promise<Pinged> {
    try {
      await this.#ping();
      return { kind: 'known' };
    } catch (failure) {
      // Whoever does not know pings, but says so by the protocol, knows the session.
      if (isRpcError(failure)) return { kind: 'known' };
      if (!isSessionLost(failure)) return { kind: 'unclear' };
      return { kind: 'refused', ...readFailure(failure.cause) };
    } finally {
      this.#asking = undefined;
    }
  }
}

type Words = Pick<FailureFacts, 'status' | 'text' | 'said'>;

type Pinged = { readonly kind: 'known' | 'unclear' } | ({ readonly kind: 'refused' } & Words);

/** A session that is not known is refused in the same words, whatever is asked. */
function isSame(one: Words, other: Words): boolean {
  return one.status === other.status && wordsOf(one) === wordsOf(other);
}

/** What a refusal says, without what differs from request to request: ids, times and traces. */
function wordsOf({ text, said }: Words): string {
  const error = readRpcError('', text);
  const words = error ? `${error.code} ${error.message}` : (text ?? said);
  return words.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d+/gi, '#');
}

const SEE = 'see what the request did before you repeat it';

export function isSessionLost(failure: unknown): failure is HostError {
  return failure instanceof HostError && failure.code === 'session-lost';
}
