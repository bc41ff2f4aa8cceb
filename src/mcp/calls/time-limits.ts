/** The time limits of one call: in total, and without any message. */
export type TimeLimits = {
  readonly totalMs: number;
  /** The setting that the limit comes from, for messages. */
  readonly totalBy: string;
  readonly idleMs?: number;
  readonly idleBy?: string;
};

/** The sources of limits, in order of precedence: the call, the server's entry, the host. */
export type LimitSources = {
  readonly call: {
    readonly timeoutMs?: number | undefined;
    /** Whether the caller receives progress; `timeoutMs` then limits the time between messages. */
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

/** For each of the two limits, the first source that sets it wins. */
export function timeLimits(tool: string, { call, entry, host }: LimitSources): TimeLimits {
  const ofTool = entry.toolTimeoutsMs;
  const byTool = ofTool && Object.hasOwn(ofTool, tool) ? ofTool[tool] : undefined;
  const byCall = call.hasProgressListener ? undefined : call.timeoutMs;
  const [totalMs, totalBy] = nearest([
    [byCall, BY_CALL],
    [byTool, '"toolTimeoutsMs" of the server entry'],
    [entry.timeout, '"timeout" of the server entry'],
    [host.callTimeoutMs ?? CALL_TIMEOUT_MS, 'callTimeoutMs'],
  ]) as Limit;
  const idle = nearest([
    [call.hasProgressListener ? call.timeoutMs : undefined, BY_CALL],
    [entry.idleTimeoutMs, '"idleTimeoutMs" of the server entry'],
    [host.idleTimeoutMs, 'idleTimeoutMs'],
  ]);
  return { totalMs, totalBy, ...(idle && { idleMs: idle[0], idleBy: idle[1] }) };
}

type Limit = readonly [ms: number, by: string];

const BY_CALL = 'timeoutMs of the call';

function nearest(sources: readonly (readonly [number | undefined, string])[]): Limit | undefined {
  return sources.find((source): source is Limit => source[0] !== undefined);
}
