import { contenders } from '../../contenders.ts';
import { driveCalls } from '../../drive-calls.ts';
import type { Step } from '../../drivers/steps.ts';
import type { GroupContext } from '../../group.ts';
import { limit, type Row } from '../../row.ts';

const CALLS = { quick: 50_000, default: 200_000, full: 1_000_000 };
const IN_FLIGHT = 64;

/** What a long conversation leaves behind on the heap. */
export async function measureGrowth({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const calls = CALLS[effort];
  const counted = calls.toLocaleString('en');
  progress(`heap growth over ${counted} calls`);
  const { ours } = contenders(packageDir);
  const { marks } = await driveCalls(lab, ours, growthSteps(calls), { nodeArgs: ['--expose-gc'] });
  const grown = ((marks.to?.heapBytes ?? Number.NaN) - (marks.from?.heapBytes ?? Number.NaN)) / 1024 / 1024;
  return [limit(`${counted} calls: heap growth MB after GC`, grown, 'none', { is: '<', limit: 5 })];
}

function growthSteps(calls: number): Step[] {
  return [
    { kind: 'verify', calls: 100 },
    { kind: 'parallel', calls: 20_000, inFlight: IN_FLIGHT, name: 'warm-up' },
    { kind: 'mark', name: 'from' },
    { kind: 'parallel', calls, inFlight: IN_FLIGHT, name: 'calls' },
    { kind: 'mark', name: 'to' },
    { kind: 'verify', calls: 100 },
  ];
}
