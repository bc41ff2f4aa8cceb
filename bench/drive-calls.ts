import type { Contender } from './contenders.ts';
import type { CallsReport } from './drivers/calls.ts';
import type { Step } from './drivers/steps.ts';
import type { Lab, RunOptions } from './lab.ts';

export const IN_FLIGHT = 64;

/** So many calls, that many open at once, between the marks `from` and `to`; the first and the last replies are checked one by one, so that a fast wrong answer is no success. */
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

/** One run of the driver `calls` from start to end. */
export async function driveCalls(
  lab: Lab,
  contender: Contender,
  steps: readonly Step[],
  options?: RunOptions,
): Promise<CallsReport> {
  await using driver = lab.converse<CallsReport>('calls', [contender], options);
  return await driver.ask(steps);
}
