/** How long one call may take in all, and how long it may stay silent. */
export type TimeLimits = {
  readonly totalMs: number;
  /** The setting it comes from, as a person would look for it. */
  readonly totalBy: string;
  readonly idleMs?: number;
  readonly idleBy?: string;
};

/** What may limit a call, nearest first: the call itself, the server's entry, the host. */
export type LimitSources = {
  readonly call: {
    readonly timeoutMs?: number | undefined;
    /** Whether the caller hears of progress: its limit is then one of silence. */
    readonly hasProgressListener: boolean;
  };
  readonly entry: {
    readonly timeout?: number;
    readonly idleTimeoutMs?: number;
    readonly toolTimeoutsMs?: Readonly<Record<string, number>>;
  };
  readonly host: { readonly callTimeoutMs?: number | undefined; readonly idleTimeoutMs?: number | undefined };
};

/** A little more than a day: ends abandoned calls without limiting real work (R183). */
export const CALL_TIMEOUT_MS = 100_000_000;

/** Default time limit from the start of a connection attempt to the first list of tools. */
export const CONNECT_TIMEOUT_MS = 30_000;

/** The nearest source that says something wins, for each of the two limits by itself. */
export function timeLimits(tool: string, { call, entry, host }: LimitSources): TimeLimits {
  const ofTool = entry.toolTimeoutsMs;
  const byTool = ofTool && Object.hasOwn(ofTool, tool) ? ofTool[tool] : undefined;
  const byCall = call.hasProgressListener ? undefined : call.timeoutMs;
  const [totalMs, totalBy] = nearest([
    [byCall, BY_CALL],
    [byTool, '"toolTimeoutsMs" of its entry'],
    [entry.timeout, '"timeout" of its entry'],
    [host.callTimeoutMs ?? CALL_TIMEOUT_MS, 'callTimeoutMs'],
  ]) as Limit;
  const idle = nearest([
    [call.hasProgressListener ? call.timeoutMs : undefined, BY_CALL],
    [entry.idleTimeoutMs, '"idleTimeoutMs" of its entry'],
    [host.idleTimeoutMs, 'idleTimeoutMs'],
  ]);
  return { totalMs, totalBy, ...(idle && { idleMs: idle[0], idleBy: idle[1] }) };
}

type Limit = readonly [ms: number, by: string];

const BY_CALL = 'timeoutMs of the call';

function nearest(sources: readonly (readonly [number | undefined, string])[]): Limit | undefined {
  return sources.find((source): source is Limit => source[0] !== undefined);
}
