import type { Side, Target } from '../../drivers/mcp-caller.ts';
import type { GroupContext } from '../../group.ts';
import { limit, type Row } from '../../row.ts';
import { BARE, ourHost, STDIO, serveHttp } from './tiny-servers.ts';

const HTTP = { quick: 100, default: 200, full: 200 };
const PROCESSES = { quick: 10, default: 20, full: 40 };

/** Heap use of an idle connection. */
export async function measureIdle(context: GroupContext): Promise<Row[]> {
  const { effort, progress } = context;
  const count = HTTP[effort];
  progress(`${count} idle connections`);
  await using servers = await serveHttp(context, { count });
  const weigh = async (side: Side, targets: readonly Target[]) => {
    const task = { side, warm: targets[0], targets };
    return (
      (await context.lab.drive<number>('idle-connections', [task], { nodeArgs: ['--expose-gc'] })) / 1024
    );
  };
  const http = await weigh(ourHost(context), servers.targets);
  const bare = await weigh(BARE, servers.targets);
  const processes = Array.from({ length: PROCESSES[effort] }, () => STDIO);
  const stdio = await weigh(ourHost(context), processes);
  const beside = `bare client: ${bare.toFixed(1)}; host on stdio: ${stdio.toFixed(1)}`;
  const name = `${count} idle http connections: heap KB each`;
  return [limit(name, http, beside, { is: '<=', limit: 150 })];
}
