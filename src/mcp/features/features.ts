import { startTimer } from '../../base/async/timers.ts';
import { AbortError, messageOf } from '../../protocol/sdk-error.ts';
import { afterFailure, type NextStep, pause, reach } from '../calls/retrying-request.ts';
import { type LimitSources, timeLimits } from '../calls/time-limits.ts';
import type { CallOptions, Connection } from '../connection/connection.ts';
import { Warnings } from '../connection/warnings.ts';
import { listPrompts, listResources, listResourceTemplates } from '../discovery/lists.ts';
import type { Prompt } from '../discovery/prompt.ts';
import type { Discovered } from '../discovery/read-list.ts';
import type { Resource, ResourceTemplate } from '../discovery/resource.ts';
import { HostError, unknownServer, type WhyAside } from '../errors/host-error.ts';
import type { CallTarget } from '../servers/call-target.ts';
import type { Servers } from '../servers/servers.ts';
import { KeptList } from './cached-list.ts';
import { type Asking, type Left, lateFault, notOffered, promptFault } from './feature-errors.ts';
import {
  type Completion,
  type CompletionOf,
  completionParams,
  type FilledPrompt,
  mayComplete,
  type ReadResource,
  readCompletionAnswer,
  readPromptAnswer,
  readResourceAnswer,
} from './feature-results.ts';
import { type Subscription, Subscriptions } from './subscriptions.ts';

/** How one request is made; `timeoutMs` is the longest silence if `onProgress` is given, the longest time in all if not. */
type FeatureOptions = Pick<CallOptions, 'signal' | 'timeoutMs' | 'onProgress' | 'meta'>;

/** Something of a server, with the key of its entry. */
type Of<T> = T & { readonly server: string };

type FeaturesOptions = LimitSources['host'] & {
  /** Hears of what was tolerated, and of servers that could not be listed with the others. */
  readonly onWarning?: (server: string, message: string) => void;
  readonly whyAside?: WhyAside;
};

/**
 * Resources, prompts and completion of many servers, whatever protocol they speak. Each request waits for a server that
 * is being dialled, is made once more if the connection is lost meanwhile, and rejects with a `HostError`, an
 * `AbortError`, or the server's own `ServerFault`. What a server does not offer is listed as nothing.
 */
export class Features implements Disposable {
  readonly #servers: Servers;
  readonly #options: FeaturesOptions;
  readonly #warnings = new Map<string, Warnings>();
  readonly #subscriptions: Subscriptions;
  readonly #resources: KeptList<Resource>;
  readonly #templates: KeptList<ResourceTemplate>;
  readonly #prompts: KeptList<Prompt>;

  constructor(servers: Servers, options: FeaturesOptions = {}) {
    this.#servers = servers;
    this.#options = options;
    this.#subscriptions = new Subscriptions({
      connection: (server) => servers.connection(server),
      onWarning: (server, message) => this.#warn(server, message),
    });
    const onFault = (server: string, fault: string) => this.#warnOnce(server, fault);
    const kept = <T>(
      offer: 'resources' | 'prompts',
      list: (connection: Connection) => Promise<Discovered<T>>,
      onFault: (server: string, fault: string) => void,
    ) => new KeptList<T>({ offer, list, onFault, now: () => performance.now() });
    this.#resources = kept('resources', (it) => listResources(it), onFault);
    this.#templates = kept('resources', (it) => listResourceTemplates(it), onFault);
    // Prompts are listed as a server comes, and what is wrong with them is told then.
    this.#prompts = kept(
      'prompts',
      (it) => listPrompts(it),
      () => {},
    );
  }

  /** Of one server, or of all that are connected; one of those that fails is warned of and costs no other. */
  listResources(server?: string, options: FeatureOptions = {}): Promise<Of<Resource>[]> {
    return this.#list('its resources', this.#resources, server, options);
  }

  /** The prompts, as `listResources`. */
  listResourceTemplates(server?: string, options: FeatureOptions = {}): Promise<Of<ResourceTemplate>[]> {
    return this.#list('its resource templates', this.#templates, server, options);
  }

  /** The prompts, as `listResources`. */
  listPrompts(server?: string, options: FeatureOptions = {}): Promise<Of<Prompt>[]> {
    return this.#list('its prompts', this.#prompts, server, options);
  }

  readResource(server: string, uri: string, options: FeatureOptions = {}): Promise<ReadResource> {
    return this.#with(server, `reading ${uri}`, options, async (connection, left) => {
      if (!this.#resources.isOffered(connection)) throw notOffered(server, 'resources');
      return readResourceAnswer(server, uri, await connection.ask('resources/read', { uri }, left));
    });
  }

  /** `listener` hears of changes, once of those that come at once, and once after a reconnect, since something may have been missed. */
  subscribe(
    server: string,
    uri: string,
    listener: () => void,
    options: FeatureOptions = {},
  ): Promise<Subscription> {
    return this.#with(server, `subscribing to ${uri}`, options, async (connection, left, asking) => {
      const over = new AbortController();
      const added = this.#subscriptions.add(connection, uri, listener, over.signal);
      return waitFor(added, asking, left).catch((failure: unknown) => {
        over.abort();
        throw failure;
      });
    });
  }

  /** A prompt the server does not list, or that lacks what it requires, is refused before the server is asked. */
  getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: FeatureOptions = {},
  ): Promise<FilledPrompt> {
    return this.#with(server, `the prompt "${name}"`, options, async (connection, left, asking) => {
      if (!this.#prompts.isOffered(connection)) throw notOffered(server, 'prompts');
      // An old list is good enough to find nothing wrong; to refuse, it has to be a new one.
      const last = this.#prompts.last(connection);
      if (!last || promptFault(server, last, name, args)) {
        const fresh = await waitFor(this.#prompts.get(connection), asking, left);
        const fault = promptFault(server, fresh, name, args);
        if (fault) throw fault;
      }
      return readPromptAnswer(
        server,
        await connection.ask('prompts/get', { name, arguments: { ...args } }, left),
      );
    });
  }

  /** What an argument of a prompt or a part of a template may be; `context` is what the others are already. */
  complete(
    server: string,
    of: CompletionOf,
    argument: { readonly name: string; readonly value: string },
    context: Readonly<Record<string, string>> = {},
    options: FeatureOptions = {},
  ): Promise<Completion> {
    return this.#with(server, `completing "${argument.name}"`, options, async (connection, left) => {
      if (!mayComplete(connection)) throw notOffered(server, 'completion');
      const params = completionParams(of, argument, context);
      return readCompletionAnswer(server, await connection.ask('completion/complete', params, left));
    });
  }

  /** Is to hear of every change of a server's state: subscriptions are made again on a new connection. */
  follow(server: string): void {
    this.#subscriptions.follow(server);
  }

  /** Ends all subscriptions; the servers are not its own to end. */
  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]();
  }

  async #list<T extends object>(
    what: string,
    kept: KeptList<T>,
    server: string | undefined,
    options: FeatureOptions,
  ): Promise<Of<T>[]> {
    const listOf = (name: string) =>
      this.#with(name, `listing ${what}`, options, async (connection, left, asking) => {
        const items = await waitFor(kept.get(connection), asking, left);
        return items.map((item) => ({ ...item, server: name }));
      });
    if (server !== undefined) return listOf(server);
    const connected = [...this.#servers.all.keys()].filter((name) => {
      const connection = this.#servers.connection(name);
      return connection && kept.isOffered(connection);
    });
    const lists = connected.map((name) =>
      listOf(name).catch((failure: unknown) => {
        if (options.signal?.aborted) throw failure;
        this.#warn(name, `${what} could not be listed: ${messageOf(failure)}`);
        return [];
      }),
    );
    return (await Promise.all(lists)).flat();
  }

  async #with<T>(
    server: string,
    what: string,
    { timeoutMs, onProgress, meta, signal }: FeatureOptions,
    use: (connection: Connection, left: CallOptions & Left, asking: Asking) => Promise<T>,
  ): Promise<T> {
    const target = this.#servers.target(server);
    if (!target) throw unknownServer(server, this.#servers.all.keys(), this.#options.whyAside?.(server));
    const call = { timeoutMs, hearsProgress: onProgress !== undefined };
    const limits = timeLimits('', { call, entry: target.entry, host: this.#options });
    const asking: Asking = { server, what, limits, signal };
    const more = { ...(onProgress && { onProgress }), ...(meta && { meta }) };
    return withServer(target, asking, (connection, left) => use(connection, { ...left, ...more }, asking));
  }

  #warn(server: string, message: string): void {
    this.#options.onWarning?.(server, message);
  }

  /** A server lists the same again and again, and may have faults without end. */
  #warnOnce(server: string, message: string): void {
    const warnings = this.#warnings.get(server) ?? new Warnings((it) => this.#warn(server, it));
    this.#warnings.set(server, warnings);
    warnings.tell(message);
  }
}

/**
 * Asks on a live connection: waits for one that is being made, and asks once more if the first was lost meanwhile, all
 * within the limit. Rejects as a call does.
 */
async function withServer<T>(
  target: CallTarget,
  asking: Asking,
  use: (connection: Connection, left: Left) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + asking.limits.totalMs;
  let wasForgotten = false;
  const late = () => lateFault(asking, ' while its server was being dialled');
  for (let attempt = 1; ; attempt++) {
    const connection = target.live() ?? (await reach(target, { signal: asking.signal, deadline, late }));
    const timeoutMs = deadline - performance.now();
    if (timeoutMs <= 0) throw lateFault(asking, ' before it could be sent');
    try {
      const { signal, limits } = asking;
      const idle = limits.idleMs === undefined ? {} : { idleTimeoutMs: limits.idleMs };
      const result = await use(connection, { timeoutMs, ...idle, ...(signal && { signal }) });
      target.report(connection);
      return result;
    } catch (failure) {
      target.report(connection, failure);
      const isForgotten = failure instanceof HostError && failure.code === 'session-lost';
      const step = nextStep(failure, {
        attempt,
        remainingMs: deadline - performance.now(),
        isReconnecting: !target.holds(connection),
        isForgottenAgain: isForgotten && wasForgotten,
      });
      wasForgotten ||= isForgotten;
      if (step.kind === 'give-up') throw failure;
      await pause(step.afterMs, asking.signal);
    }
  }
}

type Facts = Pick<
  Parameters<typeof afterFailure>[0],
  'attempt' | 'remainingMs' | 'isReconnecting' | 'isForgottenAgain'
>;

function nextStep(failure: unknown, facts: Facts): NextStep {
  if (!(failure instanceof HostError)) return { kind: 'give-up', mayHaveRun: false };
  const { isTerminal, hasRun, retryAfterMs } = failure;
  return afterFailure({ ...facts, isTerminal, hasRun, retryAfterMs, mayRepeat: true });
}

/** Work that others wait for too: who gives up leaves it running. Rejects as the work does, or as a call that was given up. */
async function waitFor<T>(work: Promise<T>, asking: Asking, { timeoutMs, signal }: Left): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new AbortError('The request was aborted', { cause: signal?.reason }));
  const timer = startTimer(timeoutMs, () => reject(lateFault(asking)));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
