import type { Secrets } from '../connection/secrets.ts';
import {
  classifyStatus,
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
export class SessionLossCheck {
  readonly #server: string;
  readonly #secrets: Secrets;
  readonly #ping: () => Promise<unknown>;
  #pinging: Promise<Pinged> | undefined;

  /** `ping` asks for a sign of life in the session concerned. */
  constructor(server: string, secrets: Secrets, ping: () => Promise<unknown>) {
    this.#server = server;
    this.#secrets = secrets;
    this.#ping = ping;
  }

  /** What a request of that method is told that failed as if the session were lost; those that fail meanwhile share one ping. */
  async confirm(detail: HostError, method: string): Promise<Error> {
    this.#pinging ??= this.#pingSession();
    const pinged = await this.#pinging;
    const facts = readFailure(detail.cause);
    if (pinged.kind === 'refused' && isSameRefusal(pinged, facts)) return detail;
    const { status = 0, message: reason } = facts;
    if (pinged.kind === 'refused' && pinged.status === status && status !== 400) {
      const text = `${this.#secrets.brief(reason)}; a ping is refused by HTTP ${status} too, so a new session is made`;
      return new HostError('session-lost', this.#server, text, { cause: detail.cause, isTerminal: true });
    }
    if (pinged.kind === 'unclear') {
      const text = `it may not know our session any more (HTTP ${status}), and a ping says no more`;
      return new HostError('unreachable', this.#server, `${text}; ${SEE}`, { cause: detail.cause });
    }
    const own = classifyStatus(this.#server, facts, status);
    if (own instanceof ServerFault) return own;
    const text = `${this.#secrets.brief(reason)} (HTTP ${status} to "${method}", though it knows our session)`;
    return new HostError('unreachable', this.#server, `${text}; ${SEE}`, { cause: detail.cause });
  }

  async #pingSession(): Promise<Pinged> {
    try {
      await this.#ping();
      return { kind: 'known' };
    } catch (failure) {
      // A JSON-RPC error as response to the ping means that the session is known.
      if (isRpcError(failure)) return { kind: 'known' };
      if (!isSessionLost(failure)) return { kind: 'unclear' };
      return { kind: 'refused', ...readFailure(failure.cause) };
    } finally {
      this.#pinging = undefined;
    }
  }
}

type RefusalText = Pick<FailureFacts, 'status' | 'text' | 'message'>;

type Pinged = { readonly kind: 'known' | 'unclear' } | ({ readonly kind: 'refused' } & RefusalText);

/** A session that is not known is refused in the same words, whatever is asked. */
function isSameRefusal(one: RefusalText, other: RefusalText): boolean {
  return one.status === other.status && comparableText(one) === comparableText(other);
}

/** What a refusal says, without what differs from request to request: ids, times and traces. */
function comparableText({ text, message }: RefusalText): string {
  const error = readRpcError('', text);
  const comparable = error ? `${error.code} ${error.message}` : (text ?? message);
  return comparable.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d+/gi, '#');
}

const SEE = 'see what the request did before you repeat it';

export function isSessionLost(failure: unknown): failure is HostError {
  return failure instanceof HostError && failure.code === 'session-lost';
}
