import type { Contender } from './contenders.ts';
import type { CallsReport } from './drivers/calls.ts';
import type { Step } from './drivers/steps.ts';
import type { Lab, RunOptions } from './lab.ts';

export const IN_FLIGHT = 64;

/** Runs `calls` calls, `IN_FLIGHT` at a time, between the marks `from` and `to`. Replies before and after are verified, so that a fast wrong answer fails. */
export function loadSteps(calls: number): Step[] {
  return [
    { kind: 'verify', calls: 100 },
    { kind: 'parallel', calls: 20_000, inFlight: IN_FLIGHT, name: 'warm-up' },
    { kind: 'mark', name: 'from' },
    { kind: 'parallel', calls, inFlight: IN_FLIGHT, name: 'load' },
    { kind: 'mark', name: 'to' },
    { kind: 'verify', calls: 100 },
  ];
}

/** Runs the driver `calls` once. */
export async function driveCalls(
  lab: Lab,
  contender: Contender,
  steps: readonly Step[],
  options?: RunOptions,
): Promise<CallsReport> {
  await using driver = lab.converse<CallsReport>('calls', [contender], options);
  return await driver.ask(steps);
}
