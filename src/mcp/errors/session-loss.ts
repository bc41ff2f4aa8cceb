import type { SecretMask } from '../connection/secret-mask.ts';
import {
  CHECK_EFFECT,
  classifyStatus,
  type FailureFacts,
  isRpcError,
  readFailure,
  readRpcError,
} from './classify-failure.ts';
import { HostError, ServerFault } from './host-error.ts';

/**
 * Confirms with a ping whether a session is lost: servers use the same HTTP status for an unknown session and for
 * something unknown that a call refers to.
 */
export class SessionLossCheck {
  readonly #server: string;
  readonly #secrets: SecretMask;
  readonly #ping: () => Promise<unknown>;
  #pinging: Promise<Pinged> | undefined;

  /** `ping` sends a ping in the session concerned. */
  constructor(server: string, secrets: SecretMask, ping: () => Promise<unknown>) {
    this.#server = server;
    this.#secrets = secrets;
    this.#ping = ping;
  }

  /** The error of a request that failed as if the session were lost; concurrent failures share one ping. */
  async confirm(detail: HostError, method: string): Promise<Error> {
    this.#pinging ??= this.#pingSession();
    const pinged = await this.#pinging;
    const facts = readFailure(detail.cause);
    if (pinged.kind === 'refused' && isSameRefusal(pinged, facts)) return detail;
    const { status = 0, message: reason } = facts;
    if (pinged.kind === 'refused' && pinged.status === status && status !== 400) {
      const text = `${this.#secrets.brief(reason)}; a ping also failed with HTTP ${status}, so a new session is opened`;
      return new HostError('session-lost', this.#server, text, { cause: detail.cause, isTerminal: true });
    }
    if (pinged.kind === 'unclear') {
      const text = `the session may no longer exist on the server (HTTP ${status}), and a ping gave no definite result`;
      return new HostError('unreachable', this.#server, `${text}; ${CHECK_EFFECT}`, { cause: detail.cause });
    }
    const own = classifyStatus(this.#server, facts, status);
    if (own instanceof ServerFault) return own;
    const text = `${this.#secrets.brief(reason)} (HTTP ${status} for "${method}", although the session is still valid)`;
    return new HostError('unreachable', this.#server, `${text}; ${CHECK_EFFECT}`, { cause: detail.cause });
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

/** An unknown session is refused with the same text for every request. */
function isSameRefusal(one: RefusalText, other: RefusalText): boolean {
  return one.status === other.status && comparableText(one) === comparableText(other);
}

/** The text of a refusal without parts that vary by request: ids, times and traces. */
function comparableText({ text, message }: RefusalText): string {
  const error = readRpcError('', text);
  const comparable = error ? `${error.code} ${error.message}` : (text ?? message);
  return comparable.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d+/gi, '#');
}

export function isSessionLost(failure: unknown): failure is HostError {
  return failure instanceof HostError && failure.code === 'session-lost';
}
