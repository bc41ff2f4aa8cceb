import type { Progress } from './progress.ts';

/** Why a call ran or did not, as far as anybody said. */
export type Verdict = {
  readonly behavior: 'allow' | 'deny';
  /** Who decided: the person at this terminal, nobody because none is there, the agent, or none: the question was withdrawn. */
  readonly by: 'you' | 'nobody' | 'agent' | 'withdrawn';
  readonly how?: 'once' | 'for this session' | 'always';
  readonly reason?: string;
};

/** One tool call of the conversation, from the model's wish to its outcome. */
export type Call = {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly isNested: boolean;
  readonly since: number;
  readonly outcome: 'running' | 'ok' | 'failed' | 'denied';
  /** Why it was asked about, if it was. */
  readonly asked?: { readonly reason?: string; readonly server?: string };
  readonly verdict?: Verdict;
  /** How far it is, as its server says. */
  readonly progress?: Progress;
};

/** What is known of calls, newest last; of those the model did not tell yet, what was asked and decided. */
export type CallLog = {
  readonly calls: readonly Call[];
  readonly early: Readonly<Record<string, Partial<Call>>>;
};

export const NO_CALLS: CallLog = { calls: [], early: {} };

const KEPT = 200;

export function addCall({ calls, early }: CallLog, call: Call): CallLog {
  const { [call.id]: known, ...others } = early;
  return { calls: [...calls.slice(-KEPT + 1), { ...call, ...known }], early: others };
}

/** Changes the call with this id. A question may overtake the message with its call, so one that is not there is awaited. */
export function changeCall({ calls, early }: CallLog, id: string, change: Partial<Call>): CallLog {
  const index = calls.findLastIndex((call) => call.id === id);
  const before = calls[index];
  if (before) return { calls: calls.with(index, { ...before, ...change }), early };
  return { calls, early: { ...early, [id]: { ...early[id], ...change } } };
}

/** Keeps who decided about a call. What was answered here outweighs what the agent tells of it, whichever comes first. */
export function settleCall(log: CallLog, id: string, verdict: Verdict): CallLog {
  const before = knownOf(log, id).verdict;
  return before && WEIGHTS[before.by] > WEIGHTS[verdict.by] ? log : changeCall(log, id, { verdict });
}

const WEIGHTS: Readonly<Record<Verdict['by'], number>> = { you: 2, nobody: 2, agent: 1, withdrawn: 0 };

export function findCall({ calls }: CallLog, id: string): Call | undefined {
  return calls.findLast((call) => call.id === id);
}

/** What is known of a call, also of one that the model did not tell yet. */
export function knownOf(log: CallLog, id: string): Partial<Call> {
  return findCall(log, id) ?? log.early[id] ?? {};
}

export function runningCalls({ calls }: CallLog): readonly Call[] {
  return calls.filter(({ outcome }) => outcome === 'running');
}
