/** Why a call ran or did not, as far as anybody said. */
export type Verdict = {
  readonly behavior: 'allow' | 'deny';
  /** Who decided: the person at this terminal, or the agent by its rules and mode. */
  readonly by: 'you' | 'agent';
  readonly how?: 'once' | 'always';
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

export function findCall({ calls }: CallLog, id: string): Call | undefined {
  return calls.findLast((call) => call.id === id);
}

export function runningCalls({ calls }: CallLog): readonly Call[] {
  return calls.filter(({ outcome }) => outcome === 'running');
}
