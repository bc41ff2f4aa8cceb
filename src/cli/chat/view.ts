import { isRecord } from '../../base/json-value.ts';
import type { SDKResultMessage } from '../../protocol/agent-message.ts';
import type { Piece } from '../terminal/render.ts';
import type { Progress } from './message-text.ts';

/** The state of a conversation as the chat shows it. */
export type View = {
  readonly init: { readonly model?: string; readonly mode?: string; readonly tools: readonly string[] };
  /** Slash commands of the agent, without the slash. */
  readonly commands: readonly string[];
  /** The servers at the start of the last turn. */
  readonly servers: readonly ServerHealth[];
  /** Reported failures of servers, by name. */
  readonly faults: Readonly<Record<string, string>>;
  /** The teammates as the agent reported them last. */
  readonly team: readonly Readonly<Record<string, unknown>>[];
  readonly calls: CallLog;
  /** Whether results are shown in one row, as in logs. */
  readonly isBrief?: boolean;
  readonly totals: Totals;
  /** The id of the message that is being streamed, and of those that were streamed. */
  readonly streaming?: string;
  readonly streamed: ReadonlySet<string>;
  /** Whether the last reply was cut off at its maximum length, so that the next one continues it. */
  readonly wasCutOff: boolean;
  /** Whether text was shown since the last prompt. */
  readonly hasText: boolean;
  /** How much of the context window the last request used, in percent; undefined if it is not known. */
  readonly context?: number;
  /** The tokens of the last request, until the size of the context window is known. */
  readonly contextTokens: number;
  /** The number of running background tasks. */
  readonly background: number;
  /** The last long results, of which only the start was shown; newest last. */
  readonly folded: readonly FoldedResult[];
};

/** A result of which only the start was shown. */
export type FoldedResult = { readonly name: string; readonly pieces: readonly Piece[] };

const MAX_FOLDED = 20;

export function addFolded(folded: View['folded'], result: FoldedResult): View['folded'] {
  return [...folded.slice(-MAX_FOLDED + 1), result];
}

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
  team: [],
  calls: NO_CALLS,
  totals: NOTHING_USED,
  streamed: new Set(),
  wasCutOff: false,
  hasText: false,
  contextTokens: 0,
  background: 0,
  folded: [],
};

/** A new view and the output. */
export type Shown = { readonly view: View; readonly pieces: readonly Piece[] };

/** The permission decision of a call. */
export type Verdict = {
  readonly behavior: 'allow' | 'deny';
  /** The decider: the user at this terminal, none in a non-interactive run, the agent, or none because the question was withdrawn. */
  readonly by: 'you' | 'non-interactive' | 'agent' | 'withdrawn';
  readonly how?: 'once' | 'for this session' | 'always';
  readonly reason?: string;
};

/** One tool call of the conversation. */
export type Call = {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly isNested: boolean;
  readonly since: number;
  readonly outcome: 'running' | 'ok' | 'failed' | 'denied';
  /** The permission question, if there was one. */
  readonly asked?: { readonly reason?: string; readonly server?: string };
  readonly verdict?: Verdict;
  /** The last progress notification of the server. */
  readonly progress?: Progress;
};

/** The calls, newest last; `early` has questions and decisions about calls whose message has not arrived yet. */
export type CallLog = {
  readonly calls: readonly Call[];
  readonly early: Readonly<Record<string, Partial<Call>>>;
};

const KEPT = 200;

export function addCall({ calls, early }: CallLog, call: Call): CallLog {
  const { [call.id]: known, ...others } = early;
  return { calls: [...calls.slice(-KEPT + 1), { ...call, ...known }], early: others };
}

/** Updates the call with this id. A question may arrive before the message with its call; the update is kept until then. */
export function changeCall({ calls, early }: CallLog, id: string, change: Partial<Call>): CallLog {
  const index = calls.findLastIndex((call) => call.id === id);
  const before = calls[index];
  if (before) return { calls: calls.with(index, { ...before, ...change }), early };
  return { calls, early: { ...early, [id]: { ...early[id], ...change } } };
}

/** Records the decision of a call. A decision made here takes precedence over the agent's report of it. */
export function decideCall(log: CallLog, id: string, verdict: Verdict): CallLog {
  const before = knownOf(log, id).verdict;
  return before && PRIORITIES[before.by] > PRIORITIES[verdict.by] ? log : changeCall(log, id, { verdict });
}

const PRIORITIES: Readonly<Record<Verdict['by'], number>> = {
  you: 2,
  'non-interactive': 2,
  agent: 1,
  withdrawn: 0,
};

export function findCall({ calls }: CallLog, id: string): Call | undefined {
  return calls.findLast((call) => call.id === id);
}

/** What is known of a call, also before its message has arrived. */
export function knownOf(log: CallLog, id: string): Partial<Call> {
  return findCall(log, id) ?? log.early[id] ?? {};
}

export function runningCalls({ calls }: CallLog): readonly Call[] {
  return calls.filter(({ outcome }) => outcome === 'running');
}

/** The usage of the conversation so far. */
export type Totals = {
  readonly prompts: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** The cost that the agent reports; 0 if it does not know prices. */
  readonly usd: number;
};

/** Results report tokens per turn, and the cost of the whole conversation. */
export function addResult(totals: Totals, result: SDKResultMessage): Totals {
  const { usage } = result;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    prompts: totals.prompts + 1,
    turns: totals.turns + result.num_turns,
    inputTokens: totals.inputTokens + usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
    cachedTokens: totals.cachedTokens + cached,
    outputTokens: totals.outputTokens + usage.output_tokens,
    // Absent if the agent does not know the prices.
    usd: Math.max(totals.usd, result.total_cost_usd ?? 0),
  };
}

/** The status of a server, and its error if known. */
export type ServerHealth = { readonly name: string; readonly status: string; readonly error?: string };

/** The failures of servers by name, and a line for each new failure. */
type ServerFaults = {
  readonly faults: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
};

/** Lists servers that cannot be used, each failure once until the server recovers. */
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

/** The servers of an `init` message. */
export function serversOf({ mcp_servers }: Readonly<Record<string, unknown>>): ServerHealth[] {
  const all = Array.isArray(mcp_servers) ? mcp_servers : [];
  return all.filter(isRecord).map(({ name, status }) => ({ name: String(name), status: String(status) }));
}

/** Removes the server's name, which the line already has. */
function faultText(name: string, status: string, error: string | undefined): string {
  return error ? `${status}: ${error.replace(`MCP server "${name}": `, '')}` : status;
}

const FAILED_STATES: ReadonlySet<string> = new Set(['failed', 'needs-auth']);
