import { startTimer } from '../../base/async/timers.ts';
import { messageOf, RequestAbortError } from '../../protocol/sdk-error.ts';
import { type RetryingRequest, retryingRequest, timeoutError } from '../calls/retrying-request.ts';
import { type LimitSources, timeLimits } from '../calls/time-limits.ts';
import type { Connection, RequestOptions } from '../connection/connection.ts';
import { UniqueWarnings } from '../connection/repeated-warnings.ts';
import type { Prompt, Resource, ResourceTemplate } from '../discovery/list-entries.ts';
import type { Discovered } from '../discovery/read-list.ts';
import { listPrompts, listResources, listResourceTemplates, listSkills } from '../discovery/request-lists.ts';
import { type ServerSkill, skillBody, skillFileError } from '../discovery/skill-entries.ts';
import { type InactiveReason, unknownServerError } from '../errors/host-error.ts';
import type { Servers } from '../servers/servers.ts';
import { CachedList, type Offer } from './cached-list.ts';
import {
  type Completion,
  type CompletionOf,
  completionParams,
  type FilledPrompt,
  mayComplete,
  notOfferedError,
  parseCompletionResult,
  parsePromptResult,
  parseResourceResult,
  promptError,
  type ReadResource,
  unverifiedError,
} from './feature-results.ts';
import { type Subscription, Subscriptions } from './subscriptions.ts';

const MAX_SKILL_TEXT = 256 * 1024;

/** Options of a request. With `onProgress`, `timeoutMs` limits the time between messages instead of the total time. */
type FeatureOptions = Pick<RequestOptions, 'signal' | 'timeoutMs' | 'onProgress' | 'meta'>;

type AttemptOptions = Parameters<RetryingRequest<unknown>['send']>[1];

/** An item with the key of its server. */
type Of<T> = T & { readonly server: string };

type FeaturesOptions = LimitSources['host'] & {
  /** Called for tolerated errors, and for servers that could not be listed. */
  readonly onWarning?: (server: string, message: string) => void;
  readonly inactiveReason?: InactiveReason;
};

/**
 * Resources, prompts and completion of all servers. Each request waits for a server that is connecting, is repeated if
 * the connection is lost, and rejects with a `HostError`, an `AbortError`, or the server's own `ServerFault`. A server
 * without the capability has an empty list.
 */
export class Features implements Disposable {
  readonly #servers: Servers;
  readonly #options: FeaturesOptions;
  readonly #warnings = new Map<string, UniqueWarnings>();
  readonly #subscriptions: Subscriptions;
  readonly #resources: CachedList<Resource>;
  readonly #templates: CachedList<ResourceTemplate>;
  readonly #prompts: CachedList<Prompt>;
  readonly #skills: CachedList<ServerSkill>;

  constructor(servers: Servers, options: FeaturesOptions = {}) {
    this.#servers = servers;
    this.#options = options;
    this.#subscriptions = new Subscriptions({
      connection: (server) => servers.connection(server),
      onWarning: (server, message) => this.#warn(server, message),
    });
    const onWarning = (server: string, detail: string) => this.#warnOnce(server, detail);
    const kept = <T>(
      offer: Offer,
      list: (connection: Connection) => Promise<Discovered<T>>,
      onWarning: (server: string, detail: string) => void,
    ) => new CachedList<T>({ offer, list, onWarning, now: () => performance.now() });
    this.#resources = kept('resources', (it) => listResources(it), onWarning);
    this.#templates = kept('resources', (it) => listResourceTemplates(it), onWarning);
    // Diagnostics of prompts are reported when the server connects.
    this.#prompts = kept(
      'prompts',
      (it) => listPrompts(it),
      () => {},
    );
    this.#skills = kept('skills', (it) => listSkills(it), onWarning);
  }

  /** The resources of one server or of all connected ones; a server that fails is reported as a warning. */
  listResources(server?: string, options: FeatureOptions = {}): Promise<Of<Resource>[]> {
    return this.#list('its resources', this.#resources, server, options);
  }

  /** The resource templates, like `listResources`. */
  listResourceTemplates(server?: string, options: FeatureOptions = {}): Promise<Of<ResourceTemplate>[]> {
    return this.#list('its resource templates', this.#templates, server, options);
  }

  /** The prompts, like `listResources`. */
  listPrompts(server?: string, options: FeatureOptions = {}): Promise<Of<Prompt>[]> {
    return this.#list('its prompts', this.#prompts, server, options);
  }

  readResource(server: string, uri: string, options: FeatureOptions = {}): Promise<ReadResource> {
    return this.#request(server, `reading ${uri}`, options, async (connection, attempt) => {
      if (!this.#resources.isOffered(connection)) throw notOfferedError(server, 'resources');
      const read = parseResourceResult(
        server,
        uri,
        await connection.request('resources/read', { uri }, attempt),
      );
      const fault = skillFileError(this.#skills.last(connection) ?? [], uri, read.contents);
      if (fault !== undefined) throw unverifiedError(server, uri, fault);
      return read;
    });
  }

  /** The skills, like `listResources`. Their files are not read. */
  listSkills(server?: string, options: FeatureOptions = {}): Promise<Of<ServerSkill>[]> {
    return this.#list('its skills', this.#skills, server, options);
  }

  /**
   * The text of a skill without its frontmatter. Rejects if it is not what the server announced: its size and digest, and
   * each field of its frontmatter.
   */
  async readSkill(server: string, uri: string, options: FeatureOptions = {}): Promise<string> {
    const skill = (await this.listSkills(server, options)).find((it) => it.uri === uri);
    if (!skill) throw notOfferedError(server, `the skill ${uri}`);
    const { contents } = await this.readResource(server, uri, options);
    const [content] = contents;
    if (contents.length !== 1 || !content || !('text' in content))
      throw unverifiedError(server, uri, 'the resource must have exactly one content item, of type text');
    if (content.text.length > MAX_SKILL_TEXT)
      throw unverifiedError(server, uri, `the file has more than ${MAX_SKILL_TEXT} characters`);
    const found = skillBody(skill, content.text);
    if ('fault' in found) throw unverifiedError(server, uri, found.fault);
    return found.body;
  }

  /** Calls `listener` after changes, once per burst, and after each reconnect, since changes may have been missed. */
  subscribe(
    server: string,
    uri: string,
    listener: () => void,
    options: FeatureOptions = {},
  ): Promise<Subscription> {
    return this.#request(server, `subscribing to ${uri}`, options, async (connection, attempt, request) => {
      const over = new AbortController();
      const added = this.#subscriptions.add(connection, uri, listener, over.signal);
      return waitFor(added, request, attempt).catch((failure: unknown) => {
        over.abort();
        throw failure;
      });
    });
  }

  /** An unlisted prompt, or one with missing required arguments, is refused without a request. */
  getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: FeatureOptions = {},
  ): Promise<FilledPrompt> {
    return this.#request(server, `the prompt "${name}"`, options, async (connection, attempt, request) => {
      if (!this.#prompts.isOffered(connection)) throw notOfferedError(server, 'prompts');
      // A cached list is good enough to accept a request, but a refusal needs a fresh one.
      const last = this.#prompts.last(connection);
      if (!last || promptError(server, last, name, args)) {
        const fresh = await waitFor(this.#prompts.get(connection), request, attempt);
        const detail = promptError(server, fresh, name, args);
        if (detail) throw detail;
      }
      return parsePromptResult(
        server,
        await connection.request('prompts/get', { name, arguments: { ...args } }, attempt),
      );
    });
  }

  /** Completes an argument of a prompt or a template; `context` has the values of the other arguments. */
  complete(
    server: string,
    of: CompletionOf,
    argument: { readonly name: string; readonly value: string },
    context: Readonly<Record<string, string>> = {},
    options: FeatureOptions = {},
  ): Promise<Completion> {
    return this.#request(server, `completing "${argument.name}"`, options, async (connection, attempt) => {
      if (!mayComplete(connection)) throw notOfferedError(server, 'completion');
      const params = completionParams(of, argument, context);
      return parseCompletionResult(server, await connection.request('completion/complete', params, attempt));
    });
  }

  /** To be called after each state change of a server; subscribes again on a new connection. */
  follow(server: string): void {
    this.#subscriptions.follow(server);
  }

  /** Ends all subscriptions; the servers stay connected. */
  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]();
  }

  async #list<T extends object>(
    what: string,
    kept: CachedList<T>,
    server: string | undefined,
    options: FeatureOptions,
  ): Promise<Of<T>[]> {
    const listOf = (name: string) =>
      this.#request(name, `listing ${what}`, options, async (connection, attempt, request) => {
        const items = await waitFor(kept.get(connection), request, attempt);
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

  async #request<T>(
    server: string,
    subject: string,
    { timeoutMs, onProgress, meta, signal }: FeatureOptions,
    send: (connection: Connection, options: AttemptOptions, request: RetryingRequest<unknown>) => Promise<T>,
  ): Promise<T> {
    const target = this.#servers.target(server);
    if (!target)
      throw unknownServerError(server, this.#servers.all.keys(), this.#options.inactiveReason?.(server));
    const request: RetryingRequest<T> = {
      server,
      subject,
      limits: timeLimits('', {
        call: { timeoutMs, hasProgressListener: onProgress !== undefined },
        entry: target.entry,
        host: this.#options,
      }),
      signal,
      ...(onProgress && { onProgress }),
      ...(meta && { meta }),
      mayRepeat: () => true,
      send: (connection, options) => send(connection, options, request),
    };
    return retryingRequest(target, request);
  }

  #warn(server: string, message: string): void {
    this.#options.onWarning?.(server, message);
  }

  /** Reports each message once, since a server may be listed often. */
  #warnOnce(server: string, message: string): void {
    const warnings = this.#warnings.get(server) ?? new UniqueWarnings((it) => this.#warn(server, it));
    this.#warnings.set(server, warnings);
    warnings.report(message);
  }
}

/** Waits for work that other requests wait for too, so a request that gives up leaves it running. */
async function waitFor<T>(
  work: Promise<T>,
  request: RetryingRequest<unknown>,
  { timeoutMs, signal }: AttemptOptions,
): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new RequestAbortError('The request was aborted', { cause: signal?.reason }));
  const timer = startTimer(timeoutMs, () => reject(timeoutError(request, 'total')));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
