import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FlowReport, FlowTask } from '../drivers/channel-flow.ts';
import type { GroupContext } from '../group.ts';
import { median } from '../median.ts';
import { boundableProcessors } from '../processors.ts';
import { limit, type Row } from '../row.ts';

/** Fewer than the quota of one source. */
const MESSAGES = { quick: 20_000, default: 45_000, full: 45_000 };
const WAKES = { quick: 100, default: 200, full: 1_000 };

/** Messages that servers push: how many are stored per second, and how soon they wake an agent. */
export async function channels({ effort, lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  const url = (name: string) => pathToFileURL(join(packageDir, `dist/entry/${name}.js`)).href;
  const task: FlowTask = {
    sdk: url('index'),
    host: url('host'),
    messages: MESSAGES[effort],
    wakes: WAKES[effort],
  };
  progress('messages of channels');
  const report = await lab.drive<FlowReport>('channel-flow', [task], { processor: boundableProcessors()[0] });
  const loaded = report.loaded.toSorted((a, b) => a - b);
  const p99 = loaded[Math.ceil(loaded.length * 0.99) - 1] ?? Number.NaN;
  return [
    limit(
      'messages stored and acknowledged per second, one core, fsync',
      report.perSecond,
      `${task.messages} messages of 200 bytes`,
      { is: '>=', limit: 5_000 },
    ),
    limit('wake-up of an idle agent p50 (ms)', median(report.idle), `${task.wakes} messages`, {
      is: '<=',
      limit: 50,
    }),
    limit('wake-up under load p99 (ms)', p99, 'while others push 500 messages per second', {
      is: '<=',
      limit: 1_000,
    }),
  ];
}
