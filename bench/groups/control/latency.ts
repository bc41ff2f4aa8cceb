import { type Contender, contenders, type SdkName } from '../../contenders.ts';
import type { StandInReport, Step } from '../../drivers/steps.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { boundableProcessors } from '../../processors.ts';
import { interleave } from '../../rounds.ts';
import { compare, type Row } from '../../row.ts';

const ROUNDS = { quick: 3, default: 9, full: 9 };

/** The engine goes on improving code of this kind for that many calls, the less there is to do the longer. */
const WARM_UP = 25_000;

const ROUND_TRIPS: readonly Step[] = [
  { kind: 'parallel', calls: 5_000, inFlight: 64, name: 'warm-up in bulk' },
  { kind: 'sequential', calls: WARM_UP, name: 'warm-up' },
  { kind: 'sequential', calls: 8_000, name: 'round trip' },
];

/**
 * How long one call takes when nothing else is open. Driver and stand-in share a processor, another one each round:
 * left alone, the scheduler moves them together and apart as it likes, and waking an idle processor takes longer than the call.
 */
export async function measureLatency({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const { ours, official } = contenders(packageDir);
  const processors = boundableProcessors();
  const bound = (round: number) => ({ processor: processors[round % processors.length] });
  const serve = (contender: Contender) => (round: number) =>
    lab.drive<StandInReport>('calls', [contender, verified(ROUND_TRIPS)], bound(round));
  const reports = await interleave<SdkName | 'echo', StandInReport>(
    ROUNDS[effort],
    {
      ours: serve(ours),
      official: serve(official),
      echo: (round) => lab.drive('echo', [ROUND_TRIPS], bound(round)),
    },
    (round) => progress(`latency, round ${round} of ${ROUNDS[effort]}`),
  );
  const p50 = (side: keyof typeof reports) =>
    median(reports[side].map(({ measured }) => measured['round trip'] ?? Number.NaN));
  const echo = 'tools/call p50 against a raw line echo over the same kind of pipe (µs)';
  return [
    compare('tools/call p50 (µs)', p50('ours'), p50('official'), { is: '<=', limit: 0.7 }),
    compare(echo, p50('ours'), p50('echo'), { is: '<=', limit: 1.5 }),
  ];
}

function verified(steps: readonly Step[]): Step[] {
  return [{ kind: 'verify', calls: 100 }, ...steps, { kind: 'verify', calls: 100 }];
}
