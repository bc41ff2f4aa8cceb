/** How long one call may take in all, and how long it may stay silent. */
export type TimeLimits = { readonly totalMs: number; readonly idleMs?: number };

/** What may limit a call, nearest first: the call itself, the server's entry, the host. */
export type LimitSources = {
  readonly call: {
    readonly timeoutMs?: number | undefined;
    /** Whether the caller hears of progress: its limit is then one of silence. */
    readonly hearsProgress: boolean;
  };
  readonly entry: {
    readonly timeout?: number;
    readonly idleTimeoutMs?: number;
    readonly toolTimeoutsMs?: Readonly<Record<string, number>>;
  };
  readonly host: { readonly callTimeoutMs?: number | undefined; readonly idleTimeoutMs?: number | undefined };
};

/** A little more than a day: a limit that ends what nobody waits for any more, and cuts no work short (R183). */
export const CALL_TIMEOUT_MS = 100_000_000;

/** The nearest source that says something wins, for each of the two limits by itself. */
export function timeLimits(tool: string, { call, entry, host }: LimitSources): TimeLimits {
  const ofTool = entry.toolTimeoutsMs;
  const byTool = ofTool && Object.hasOwn(ofTool, tool) ? ofTool[tool] : undefined;
  const byCall = call.hearsProgress ? undefined : call.timeoutMs;
  const totalMs = byCall ?? byTool ?? entry.timeout ?? host.callTimeoutMs ?? CALL_TIMEOUT_MS;
  const idleMs =
    (call.hearsProgress ? call.timeoutMs : undefined) ?? entry.idleTimeoutMs ?? host.idleTimeoutMs;
  return idleMs === undefined ? { totalMs } : { totalMs, idleMs };
}
