import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/json-value.ts';
import { INTERNAL, INVALID_PARAMS, RpcMethodError } from '../../protocol/json-rpc.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { formatValue } from './normalize-message.ts';

/** Declares only the methods that have a handler, hides everything of a handler's error except its message, and limits concurrency. Made for each connection. */
export function prepareHandlers({ capabilities, handlers: answers }: ClientFeatures): ClientFeatures {
  const declared: ClientCapabilities = { ...capabilities };
  for (const [method, capability] of CAPABILITIES) {
    if (Object.hasOwn(answers, method)) declared[capability] ??= {};
    else delete declared[capability];
  }
  if (declared.elicitation) declared.elicitation = modesOf(declared.elicitation);
  const running = { count: 0 };
  const guarded = Object.entries(answers).map(([method, answer]) => {
    const careful = method === 'elicitation/create' ? elicitation(answer, declared) : answer;
    return [method, guard(careful, running)] as const;
  });
  return { capabilities: declared, handlers: Object.fromEntries(guarded) };
}

const CAPABILITIES = [
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
] as const;

type Modes = NonNullable<ClientCapabilities['elicitation']>;

/** Without a mode, forms are supported; form mode applies the defaults of the schema. */
function modesOf(modes: Modes): Modes {
  if (modes.url && !modes.form) return modes;
  const form: Modes['form'] = { ...modes.form, applyDefaults: true };
  return { ...modes, form } as Modes;
}

function elicitation(
  answer: RequestHandler,
  { elicitation: modes = {} }: ClientCapabilities,
): RequestHandler {
  return async (params, signal) => {
    const mode = params.mode ?? 'form';
    if ((mode !== 'form' && mode !== 'url') || !modes[mode]) {
      throw new RpcMethodError(
        INVALID_PARAMS,
        `elicitation mode ${formatValue(mode).slice(0, 100)} is not supported by this client`,
      );
    }
    const given = await answer(params, signal);
    if (mode !== 'form' || given.action !== 'accept') return given;
    const content = isRecord(given.content) ? given.content : {};
    return { ...given, content: withDefaults(params.requestedSchema, content) };
  };
}

/** Maximum number of requests of one server that are handled at once. */
const MAX_CONCURRENT_REQUESTS = 64;

function guard(answer: RequestHandler, running: { count: number }): RequestHandler {
  return async (params, signal) => {
    if (running.count >= MAX_CONCURRENT_REQUESTS) {
      throw new RpcMethodError(
        INTERNAL,
        `too many concurrent requests (limit ${MAX_CONCURRENT_REQUESTS}); retry later`,
      );
    }
    running.count++;
    try {
      return await answer(params, signal);
    } catch (failure) {
      if (failure instanceof RpcMethodError) throw failure;
      throw new RpcMethodError(INTERNAL, messageOf(failure));
    } finally {
      running.count--;
    }
  };
}

/** What one server may request: the declared capabilities, and a handler for each of their methods. */
export type ClientFeatures = {
  readonly capabilities: ClientCapabilities;
  readonly handlers: Readonly<Record<string, RequestHandler>>;
};

/** Handles one request of a server; a thrown error becomes the response. */
export type RequestHandler = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

/** Whether one of our own calls is pending; a request that arrives meanwhile was most likely caused by that call. */
export type RequestOrigin = 'call' | 'unsolicited';

/** Handles one request of a server. */
type Answer = (params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>;

/** Maximum number of pending requests, and of requests per minute. */
type Limit = { readonly open: number; readonly perMinute: number };

/** Requests that reach users or spend tokens; requests that only return data are not limited here. */
const LIMITS: ReadonlyMap<string, Readonly<Record<RequestOrigin, Limit>>> = new Map([
  ['elicitation/create', { unsolicited: { open: 1, perMinute: 5 }, call: { open: 16, perMinute: 100 } }],
  [
    'sampling/createMessage',
    { unsolicited: { open: 2, perMinute: 20 }, call: { open: 64, perMinute: 1000 } },
  ],
]);

const MINUTE_MS = 60_000;

/** `quietUntil`: after the user refused an unsolicited request, further ones are refused for a minute. */
type State = { open: number; begun: number[]; quietUntil: number };

/**
 * Limits what one server may request from users and from the model, across its connections. Above the limit an
 * elicitation is canceled and a sampling request fails; both are reported, but not each time.
 */
export class RequestLimiter {
  readonly #report: (message: string) => void;
  readonly #now: () => number;
  readonly #states = new Map<string, State>();
  #refused = 0;

  constructor(report: (message: string) => void, now: () => number = () => performance.now()) {
    this.#report = report;
    this.#now = now;
  }

  limited(method: string, answer: Answer, context: () => RequestOrigin): Answer {
    const limits = LIMITS.get(method);
    if (!limits) return answer;
    return async (params, signal) => {
      const where = context();
      const state = this.#stateOf(`${method} ${where}`);
      if (!this.#mayBegin(state, limits[where])) return this.#refuse(method, where, limits[where]);
      state.begun.push(this.#now());
      state.open++;
      try {
        const given = await answer(params, signal);
        const isRefused = method === 'elicitation/create' && given.action !== 'accept';
        if (isRefused && where === 'unsolicited') state.quietUntil = this.#now() + MINUTE_MS;
        return given;
      } finally {
        state.open--;
      }
    };
  }

  #mayBegin(state: State, { open, perMinute }: Limit): boolean {
    const now = this.#now();
    state.begun = state.begun.filter((at) => now - at < MINUTE_MS);
    return now >= state.quietUntil && state.open < open && state.begun.length < perMinute;
  }

  #refuse(method: string, where: RequestOrigin, limit: Limit): Record<string, unknown> {
    this.#refused++;
    // Reported at 1, 10, 100 and so on, so that a flood of requests does not become a flood of warnings.
    if (Number.isInteger(Math.log10(this.#refused)))
      this.#report(refusalText(method, where, limit, this.#refused));
    if (method === 'elicitation/create') return { action: 'cancel' };
    throw new RpcMethodError(INTERNAL, refusalText(method, where, limit, 1));
  }

  #stateOf(key: string): State {
    const state = this.#states.get(key) ?? { open: 0, begun: [], quietUntil: 0 };
    this.#states.set(key, state);
    return state;
  }
}

type Limiters = {
  readonly requestLimiters?: Map<string, RequestLimiter>;
  readonly onRequestRefused?: (server: string, message: string) => void;
};

/** The limiter of a server, kept across reconnects if the context has `requestLimiters`. */
export function limiterOf({ requestLimiters, onRequestRefused }: Limiters, server: string): RequestLimiter {
  const limiter =
    requestLimiters?.get(server) ?? new RequestLimiter((message) => onRequestRefused?.(server, message));
  requestLimiters?.set(server, limiter);
  return limiter;
}

function refusalText(
  method: string,
  where: RequestOrigin,
  { open, perMinute }: Limit,
  count: number,
): string {
  const kind = method === 'elicitation/create' ? 'elicitation' : 'sampling';
  const when = where === 'call' ? 'during a call' : 'outside of calls';
  const refused = count === 1 ? '1 refused' : `${count} refused`;
  return `too many ${kind} requests: ${refused} (limit ${when}: ${open} at once, ${perMinute} per minute)`;
}

/** The submitted values, with the defaults of the form for missing ones. */
function withDefaults(schema: unknown, content: Record<string, unknown>): Record<string, unknown> {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const filled = { ...content };
  for (const [key, property] of Object.entries(properties)) {
    if (filled[key] === undefined && isRecord(property) && property.default !== undefined) {
      filled[key] = property.default;
    }
  }
  return filled;
}
