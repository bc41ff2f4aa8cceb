import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureGrowth } from './control/growth.ts';
import { measureLatency } from './control/latency.ts';
import { measureManyServers } from './control/many-servers.ts';
import { measureThroughput } from './control/throughput.ts';

/** Tool calls through the control channel, compared with the official SDK on the same stand-in CLI. */
export async function control(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureThroughput(context)),
    ...(await measureLatency(context)),
    ...(await measureManyServers(context)),
    ...(await measureGrowth(context)),
  ];
}
