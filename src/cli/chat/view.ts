import { isRecord } from '../../base/json-value.ts';
import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import type { Piece } from '../terminal/render.ts';
import type { Progress } from './message-text.ts';

/** Everything the chat knows of its conversation. */
export type View = {
  readonly init: { readonly model?: string; readonly mode?: string; readonly tools: readonly string[] };
  /** Slash commands of the agent, without the slash. */
  readonly commands: readonly string[];
  /** As the last turn began with them. */
  readonly servers: readonly ServerHealth[];
  /** What is wrong with servers, by name, as far as it was told. */
  readonly faults: Readonly<Record<string, string>>;
  readonly calls: CallLog;
  readonly totals: Totals;
  /** The message whose text is being streamed, and those whose text was shown that way. */
  readonly streaming?: string;
  readonly streamed: ReadonlySet<string>;
  /** Whether the last reply ended because it was too long, so that the next one goes on with it. */
  readonly wasCutOff: boolean;
  /** Whether the model said anything since the last prompt. */
  readonly hasText: boolean;
};

export const NO_CALLS: CallLog = { calls: [], early: {} };

export const NOTHING_USED: Totals = {
  prompts: 0,
  turns: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  usd: 0,
};

export const EMPTY_VIEW: View = {
  init: { tools: [] },
  commands: [],
  servers: [],
  faults: {},
  calls: NO_CALLS,
  totals: NOTHING_USED,
  streamed: new Set(),
  wasCutOff: false,
  hasText: false,
};

/** What a change makes of the view, and what it makes to print. */
export type Shown = { readonly view: View; readonly pieces: readonly Piece[] };

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
export function decideCall(log: CallLog, id: string, verdict: Verdict): CallLog {
  const before = knownOf(log, id).verdict;
  return before && PRIORITIES[before.by] > PRIORITIES[verdict.by] ? log : changeCall(log, id, { verdict });
}

const PRIORITIES: Readonly<Record<Verdict['by'], number>> = { you: 2, nobody: 2, agent: 1, withdrawn: 0 };

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

/** What the conversation has used so far. */
export type Totals = {
  readonly prompts: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** As the agent counts it; agents that do not know prices say 0. */
  readonly usd: number;
};

/** Tokens are told for each turn, money for the conversation so far. */
export function addResult(totals: Totals, result: SDKResultMessage): Totals {
  const { usage } = result;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    prompts: totals.prompts + 1,
    turns: totals.turns + result.num_turns,
    inputTokens: totals.inputTokens + usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    cachedTokens: totals.cachedTokens + cached,
    outputTokens: totals.outputTokens + usage.output_tokens,
    usd: Math.max(totals.usd, result.total_cost_usd),
  };
}

/** How a server is, and what is wrong with it if anybody said. */
export type ServerHealth = { readonly name: string; readonly status: string; readonly error?: string };

/** What is wrong with each server, by name, and the lines about what was not told yet. */
type ServerFaults = {
  readonly faults: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
};

/** Tells of servers that cannot be used, each fault once; one that is well again is forgotten. */
export function serverFaults(
  reported: Readonly<Record<string, string>>,
  servers: readonly ServerHealth[],
): ServerFaults {
  const found = servers.flatMap(({ name, status, error }) =>
    FAILED_STATES.has(status) ? [[name, faultText(name, status, error)] as const] : [],
  );
  const fresh = found.filter(([name, fault]) => !Object.hasOwn(reported, name) || reported[name] !== fault);
  return {
    faults: Object.fromEntries(found),
    lines: fresh.map(([name, fault]) => `server ${name}: ${fault}`),
  };
}

/** The servers an `init` message names. */
export function serversOf({ mcp_servers }: Readonly<Record<string, unknown>>): ServerHealth[] {
  const all = Array.isArray(mcp_servers) ? mcp_servers : [];
  return all.filter(isRecord).map(({ name, status }) => ({ name: String(name), status: String(status) }));
}

/** A fault that names its server would name it twice. */
function faultText(name: string, status: string, error: string | undefined): string {
  return error ? `${status}: ${error.replace(`MCP server "${name}": `, '')}` : status;
}

const FAILED_STATES: ReadonlySet<string> = new Set(['failed', 'needs-auth']);
