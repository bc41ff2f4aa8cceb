import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureCalls } from './connect/calls.ts';
import { measureConnecting } from './connect/connecting.ts';
import { measureIdle } from './connect/idle.ts';
import { measureWear } from './connect/wear.ts';

/** The host's connections to MCP servers, compared with the SDK's own client on the same servers. */
export async function connect(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureCalls(context)),
    ...(await measureConnecting(context)),
    ...(await measureIdle(context)),
    ...(await measureWear(context)),
  ];
}
