import { internals } from '../build.ts';
import type { LoadReport, LoadTask } from '../drivers/load-config.ts';
import type { GroupContext } from '../group.ts';
import { median } from '../median.ts';
import { limit, type Row } from '../row.ts';

const SERVERS = 500;
const PROCESSES = { quick: 5, default: 15, full: 31 };
const AGAIN = 20;

/** Time to load the configuration: in a new process, and again after a change. */
export async function config({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const task: LoadTask = { config: internals(packageDir, 'config'), servers: SERVERS, again: AGAIN };
  const reports: LoadReport[] = [];
  for (let round = 1; round <= PROCESSES[effort]; round++) {
    progress(`${SERVERS} servers, process ${round} of ${PROCESSES[effort]}`);
    const report = await lab.drive<LoadReport>('load-config', [task]);
    if (report.ready !== SERVERS) throw new Error(`only ${report.ready} of ${SERVERS} servers are ready`);
    reports.push(report);
  }
  const importing = `importing the module before it: ${median(reports.map((it) => it.importing)).toFixed(0)}`;
  const floor = `reading and JSON.parse alone: ${median(reports.flatMap((it) => it.floor)).toFixed(1)}`;
  return [
    limit(
      `${SERVERS} servers in three files: the first load of a process (ms)`,
      median(reports.map((it) => it.first)),
      importing,
      { is: '<=', limit: 50 },
    ),
    limit(
      `${SERVERS} servers in three files: loaded again (ms)`,
      median(reports.flatMap((it) => it.again)),
      floor,
      { is: '<=', limit: 50 },
    ),
  ];
}
