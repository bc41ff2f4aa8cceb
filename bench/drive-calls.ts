import type { Contender } from './contenders.ts';
import type { CallsReport } from './drivers/calls.ts';
import type { Step } from './drivers/steps.ts';
import type { Lab, RunOptions } from './lab.ts';

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
