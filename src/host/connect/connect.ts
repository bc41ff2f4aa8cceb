import { isRecord } from '../../base/is-record.ts';
import { Scope } from '../../base/scope.ts';
import { startTimer } from '../../base/timer.ts';
import { AbortError } from '../../protocol/sdk-error.ts';
import { ANYTHING } from './anything.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { Dialed } from './dial.ts';
import { explainConnect } from './explain.ts';
import { HostError } from './host-error.ts';
import { dial } from './transports.ts';
import type { ConnectWorld, ServerEntry, ServerOffer } from './world.ts';

/** Connects to one server. When it rejects, nothing of the attempt is left; an abort rejects with an `AbortError`. */
export async function connect(
  name: string,
  entry: ServerEntry,
  world: ConnectWorld,
  signal: AbortSignal,
): Promise<Connection> {
  using attempt = new Attempt(world.connectTimeoutMs, signal);
  let dialed: Dialed | undefined;
  try {
    await using scope = new Scope();
    attempt.signal.throwIfAborted();
    const { Client } = await import('@modelcontextprotocol/client');
    const { capabilities, answers } = world.offerTo?.(name, entry) ?? NOTHING;
    const client = scope.own(new Client(world.clientInfo, { capabilities }), (it) => it.close());
    for (const [method, answer] of Object.entries(answers)) {
      client.setRequestHandler(method, { params: ANYTHING }, (params, { mcpReq }) =>
        answer(isRecord(params) ? params : {}, mcpReq.signal),
      );
    }
    dialed = scope.own(await dial(name, entry, world), (it) => it.close());
    // Not every step of the client's listens to the signal.
    await Promise.race([client.connect(dialed.transport, { signal: attempt.signal }), attempt.ended]);
    const { stderr } = dialed;
    return connectionOf(name, client, stderr, scope.keep());
  } catch (failure) {
    if (signal.aborted) throw new AbortError(`Connecting to "${name}" was aborted`, { cause: failure });
    if (attempt.signal.aborted) {
      const fault = `it was not ready within ${world.connectTimeoutMs} ms`;
      throw new HostError('timeout', name, fault, { cause: failure });
    }
    if (failure instanceof HostError) throw failure;
    throw explainConnect(name, failure, dialed?.stderr().join(' | ') ?? '');
  }
}

const NOTHING: ServerOffer = { capabilities: {}, answers: {} };

/** Ends with the caller's signal or its own time, whichever comes first. */
class Attempt implements Disposable {
  readonly #controller = new AbortController();
  readonly #ended = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal;

  constructor(limitMs: number, caller: AbortSignal) {
    this.#caller = caller;
    this.#ended.promise.catch(() => {});
    this.#timer = startTimer(limitMs, this.#end);
    caller.addEventListener('abort', this.#end);
    if (caller.aborted) this.#end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the attempt is over, never resolves. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => {
    this.#controller.abort();
    this.#ended.reject(this.#controller.signal.reason);
  };
}
