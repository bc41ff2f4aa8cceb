import { INTERNAL, RpcFault } from '../../protocol/json-rpc.ts';

/** Whether one of our requests to the server is running: what it asks meanwhile was most likely caused by that. */
export type QuestionContext = 'call' | 'unsolicited';

/** Answers one question of a server. */
type Answer = (params: Record<string, unknown>, signal: AbortSignal) => Promise<Record<string, unknown>>;

/** How many questions may be open at once, and how many may begin in a minute. */
type Limit = { readonly open: number; readonly perMinute: number };

/** Questions that reach people or spend tokens; requests that are answered by data alone are not limited here. */
const LIMITS: ReadonlyMap<string, Readonly<Record<QuestionContext, Limit>>> = new Map([
  ['elicitation/create', { unsolicited: { open: 1, perMinute: 5 }, call: { open: 16, perMinute: 100 } }],
  [
    'sampling/createMessage',
    { unsolicited: { open: 2, perMinute: 20 }, call: { open: 64, perMinute: 1000 } },
  ],
]);

const MINUTE_MS = 60_000;

/** `quietUntil`: a person refused a question that nobody caused, so that no other comes for a minute. */
type State = { open: number; begun: number[]; quietUntil: number };

/**
 * Limits what one server may ask of people and of the model, over all its connections. An elicitation above the limit is
 * canceled, a sampling request fails; both are reported, but not each time.
 */
export class QuestionLimiter {
  readonly #report: (message: string) => void;
  readonly #now: () => number;
  readonly #states = new Map<string, State>();
  #refused = 0;

  constructor(report: (message: string) => void, now: () => number = () => performance.now()) {
    this.#report = report;
    this.#now = now;
  }

  limited(method: string, answer: Answer, context: () => QuestionContext): Answer {
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

  #refuse(method: string, where: QuestionContext, limit: Limit): Record<string, unknown> {
    this.#refused++;
    // Reported at 1, 10, 100 …: a flood of questions must not become a flood of lines.
    if (Number.isInteger(Math.log10(this.#refused)))
      this.#report(refusalText(method, where, limit, this.#refused));
    if (method === 'elicitation/create') return { action: 'cancel' };
    throw new RpcFault(INTERNAL, refusalText(method, where, limit, 1));
  }

  #stateOf(key: string): State {
    const state = this.#states.get(key) ?? { open: 0, begun: [], quietUntil: 0 };
    this.#states.set(key, state);
    return state;
  }
}

type Limiters = {
  readonly questionLimiters?: Map<string, QuestionLimiter>;
  readonly onRefused?: (server: string, message: string) => void;
};

/** The limiter of a server; a server that is started again keeps its own, as long as `questionLimiters` are the same. */
export function limiterOf({ questionLimiters, onRefused }: Limiters, server: string): QuestionLimiter {
  const limiter =
    questionLimiters?.get(server) ?? new QuestionLimiter((message) => onRefused?.(server, message));
  questionLimiters?.set(server, limiter);
  return limiter;
}

function refusalText(
  method: string,
  where: QuestionContext,
  { open, perMinute }: Limit,
  count: number,
): string {
  const what = method === 'elicitation/create' ? 'asked for input' : 'asked for the model';
  const when = where === 'call' ? 'during a call' : 'without a call';
  const refused = count === 1 ? 'refused' : `${count} requests refused`;
  return `${what} too often: ${refused} (limit ${when}: ${open} at once, ${perMinute} a minute)`;
}
