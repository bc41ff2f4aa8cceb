/** A step of the stand-in CLI. Named steps are measured and reported by name. */
export type Step =
  | { kind: 'verify'; calls: number }
  | { kind: 'sequential'; calls: number; name: string }
  | { kind: 'parallel'; calls: number; inFlight: number; name: string }
  | { kind: 'mark'; name: string };

export type StandInReport = {
  handshake: { servers: number; manifests: number; roundTrips: number };
  /** Median round trip in microseconds for sequential steps, calls per second for parallel ones. */
  measured: Record<string, number>;
};

/** The prompt that passes the steps to the stand-in. */
export function stepsPrompt(steps: readonly Step[]): string {
  return JSON.stringify({ steps });
}
