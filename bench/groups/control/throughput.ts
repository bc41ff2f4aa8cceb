import { contenders, type SdkName } from '../../contenders.ts';
import { driveCalls, IN_FLIGHT, loadSteps } from '../../drive-calls.ts';
import type { CallsReport } from '../../drivers/calls.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';

const ROUNDS = { quick: 3, default: 9, full: 9 };
const CALLS = { quick: 15_000, default: 60_000, full: 60_000 };

/** Calls per second with many in flight, and CPU time per call in the driver's process. */
export async function measureThroughput(context: GroupContext): Promise<Row[]> {
  const { effort, lab, packageDir, progress } = context;
  const { ours, official } = contenders(packageDir);
  const calls = CALLS[effort];
  const steps = loadSteps(calls);
  const reports = await interleave<SdkName, CallsReport>(
    ROUNDS[effort],
    {
      ours: () => driveCalls(lab, ours, steps),
      official: () => driveCalls(lab, official, steps),
    },
    (round) => progress(`throughput, round ${round} of ${ROUNDS[effort]}`),
  );
  const middles = (figure: (report: CallsReport) => number): [ours: number, official: number] => [
    median(reports.ours.map(figure)),
    median(reports.official.map(figure)),
  ];
  const rate = middles(({ measured }) => measured.load ?? Number.NaN);
  const cpu = middles(({ marks }) => ((marks.to?.cpuUs ?? 0) - (marks.from?.cpuUs ?? Number.NaN)) / calls);
  return [
    compare(`tools/call ${IN_FLIGHT}-way throughput (calls/s)`, ...rate, { is: '>=', limit: 3 }),
    compare('tools/call cpu per call (µs)', ...cpu, { is: '<=', limit: 0.5 }),
  ];
}
