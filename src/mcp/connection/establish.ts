import type { Client } from '@modelcontextprotocol/client';
import { Scope } from '../../base/async/scope.ts';
import { startTimer, within } from '../../base/async/timers.ts';
import { isRecord } from '../../base/json-value.ts';

import { HostError } from '../errors/host-error.ts';
import { dial } from '../transports/transports.ts';
import type { ConnectContext, Dialed, KnownEra, ServerEntry } from './connect-context.ts';
import { type Connection, connectionOf } from './connection.ts';
import { isLogged, ListStream, listFilter, Notifications } from './notifications.ts';
import { planNegotiation } from './protocol-era.ts';
import { ThrottledWarnings } from './repeated-warnings.ts';
import { Requests } from './requests.ts';
import { type ClientFeatures, limiterOf, prepareHandlers } from './server-requests.ts';
import { TASKS_EXTENSION } from './task-calls.ts';
import { Wire } from './wire.ts';

/** What an attempt leaves for error messages. */
export type AttemptTraces = { wire?: Wire; dialed?: Dialed };

const NO_FEATURES: ClientFeatures = { capabilities: {}, handlers: {} };
/** How long a new connection waits for the stream of list changes; earlier changes are missed. */
const LISTEN_MS = 1000;

/** Opens the transport and performs the handshake. A rejected attempt leaves nothing open; `traces` describes it. */
export async function establish(
  name: string,
  entry: ServerEntry,
  context: ConnectContext,
  known: KnownEra | undefined,
  attempt: ConnectAttempt,
  traces: AttemptTraces,
): Promise<Connection> {
  await using scope = new Scope();
  attempt.signal.throwIfAborted();
  const { Client } = await import('@modelcontextprotocol/client');
  const { capabilities: declared, handlers: answers } = prepareHandlers(
    context.clientFeatures?.(name, entry) ?? NO_FEATURES,
  );
  const extensions = { [TASKS_EXTENSION]: {}, ...(usesIdentity(entry) && { [IDENTITY_EXTENSION]: {} }) };
  const capabilities = { ...declared, extensions: { ...declared.extensions, ...extensions } };
  const client = scope.own(new Client(context.clientInfo, { capabilities }), (it) => it.close());
  const limiter = limiterOf(context, name);
  for (const [method, given] of Object.entries(answers)) {
    const answer = limiter.limited(method, given, () =>
      requests.hasPendingUserRequest ? 'call' : 'unsolicited',
    );
    client.setRequestHandler(method, { params: ANY_PARAMS }, (params, { mcpReq }) =>
      answer(isRecord(params) ? params : {}, mcpReq.signal),
    );
  }
  // Input requests inside a result belong to its call.
  const inCalls = Object.entries(answers).map(
    ([method, answer]) => [method, limiter.limited(method, answer, () => 'call')] as const,
  );
  const dialed = scope.own(await dial(name, entry, context), (it) => it.close());
  traces.dialed = dialed;
  const wire = new Wire(dialed.transport, context.secrets);
  traces.wire = wire;
  const dropped = new ThrottledWarnings((why) => context.onUnexpectedOutput?.(name, why), context.secrets);
  wire.onDropped = (why) => dropped.report(why);
  const requests = new Requests(name, wire, context.secrets);
  const notices = new Notifications(
    context.onLog && ((it) => isLogged(it, context.logLevel?.()) && context.onLog?.(name, it)),
  );
  if (context.onNotification)
    notices.all.on((method, params) => context.onNotification?.(name, method, params));
  wire.onOwnMessage = (message) => requests.receive(message);
  wire.onOtherMessage = (message) => notices.receive(message);
  const plan = planNegotiation(entry, wire.isProcessLike ? 'process' : 'network', known, attempt.limitMs);
  client.setVersionNegotiation(plan.negotiation);
  const options = { signal: attempt.signal, timeout: Math.min(attempt.limitMs, MAX_TIMER_MS) };
  const connected = client.connect(wire, { ...options, ...(plan.prior && { prior: plan.prior }) });
  // Some steps of the client ignore the signal.
  await Promise.race([connected, attempt.ended]);
  wire.onTransportError = () => notices.transportError.emit();
  client.onclose = () => {
    requests.end();
    notices.closed.emit();
  };
  if (client.getProtocolEra() === 'modern') {
    // The stateless protocol has no log level setting; each request asks for logs.
    const wantsLog = context.onLog !== undefined && client.getServerCapabilities()?.logging !== undefined;
    requests.useStatelessProtocol(envelopeOf(client, context.clientInfo, capabilities), () =>
      wantsLog ? { [LOG_LEVEL]: context.logLevel?.() ?? 'info' } : {},
    );
    await listen(client, notices, scope, attempt.signal);
  }
  // The server may have closed before the listeners were added.
  if (wire.isClosed)
    throw new HostError('closed', name, 'the server closed the connection right after the handshake', {
      isTerminal: true,
    });
  const stderr = () => dialed.stderr();
  const connection = connectionOf(name, {
    client,
    wire,
    requests,
    notices,
    answers: Object.fromEntries(inCalls),
    stderr,
    scope: scope.keep(),
  });
  const level = context.logLevel?.();
  if (context.onLog && level !== undefined) void connection.setLogLevel(level);
  return connection;
}

const IDENTITY_EXTENSION = 'io.modelcontextprotocol/enterprise-managed-authorization';

/** Whether tokens come from the identity provider of the organization. */
function usesIdentity(entry: ServerEntry): boolean {
  return 'oauth' in entry && entry.oauth?.xaa === true;
}

const MAX_TIMER_MS = 2 ** 31 - 1;
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** The `_meta` of every message of the stateless protocol. */
function envelopeOf(client: Client, clientInfo: object, clientCapabilities: object): Record<string, unknown> {
  return {
    'io.modelcontextprotocol/protocolVersion': client.getNegotiatedProtocolVersion(),
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
  };
}

async function listen(
  client: Client,
  notices: Notifications,
  scope: Scope,
  signal: AbortSignal,
): Promise<void> {
  const filter = listFilter(client.getServerCapabilities() ?? {});
  if (!filter) return;
  const onGap = () => notices.listChanged.emit('all');
  const stream = scope.own(new ListStream(client, filter, onGap), (it) => it.close());
  let isLate = false;
  const opened = stream.open().then((state) => isLate && state === 'open' && onGap());
  await within(LISTEN_MS, opened, signal);
  isLate = true;
}

/** Aborts with the caller's signal or after the time limit, whichever comes first. */
export class ConnectAttempt implements Disposable {
  readonly limitMs: number;
  readonly #controller = new AbortController();
  readonly #ended = Promise.withResolvers<never>();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal;

  constructor(limitMs: number, caller: AbortSignal) {
    this.limitMs = limitMs;
    this.#caller = caller;
    this.#ended.promise.catch(() => {});
    this.#timer = startTimer(limitMs, this.#end);
    caller.addEventListener('abort', this.#end);
    if (caller.aborted) this.#end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the attempt is aborted; never resolves. */
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

/** Accepts any parameters: the official client would reject a whole request for one invalid member; the handler checks them. */
const ANY_PARAMS = {
  '~standard': {
    version: 1 as const,
    vendor: 'toolplane',
    validate: (value: unknown) => ({ value }),
  },
};
