import { contenders } from '../../contenders.ts';
import { driveCalls, loadSteps } from '../../drive-calls.ts';
import type { GroupContext } from '../../group.ts';
import { limit, type Row } from '../../row.ts';

const CALLS = { quick: 50_000, default: 200_000, full: 1_000_000 };

/** Heap growth in a long conversation. */
export async function measureGrowth({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const calls = CALLS[effort];
  const counted = calls.toLocaleString('en');
  progress(`heap growth over ${counted} calls`);
  const { ours } = contenders(packageDir);
  const { marks } = await driveCalls(lab, ours, loadSteps(calls), { nodeArgs: ['--expose-gc'] });
  const grown = ((marks.to?.heapBytes ?? Number.NaN) - (marks.from?.heapBytes ?? Number.NaN)) / 1024 / 1024;
  return [limit(`${counted} calls: heap growth MB after GC`, grown, 'none', { is: '<', limit: 5 })];
}
