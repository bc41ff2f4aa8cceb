import { internals } from '../../build.ts';
import type { AssembleReport, AssembleTask } from '../../drivers/assemble-pool.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { limit, type Row } from '../../row.ts';

const TOOLS = 10_000;
const COLD = { quick: 5, default: 15, full: 31 };
const CHANGES = { quick: 100, default: 400, full: 1_000 };

/** Assembly of all tools, and again after a change of one server. */
export async function measureAssembly({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  progress(`assembling ${TOOLS} tools`);
  const module = internals(packageDir, 'pool');
  const task: AssembleTask = { tools: TOOLS, cold: COLD[effort], changes: CHANGES[effort] };
  const { cold, changes } = await lab.drive<AssembleReport>('assemble-pool', [module, task], {
    nodeArgs: ['--expose-gc'],
  });
  const counted = `${TOOLS.toLocaleString('en')} tools`;
  const first = `first in a process: ${cold[0]?.toFixed(1)}`;
  return [
    limit(`${counted}: cold assembly (ms)`, median(cold), first, { is: '<=', limit: 50 }),
    limit(`${counted}: assembly after one server's change (ms)`, median(changes), 'none', {
      is: '<=',
      limit: 5,
    }),
  ];
}
