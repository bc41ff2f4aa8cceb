import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureCalls } from './connect/calls.ts';
import { measureDialling } from './connect/dialling.ts';
import { measureIdle } from './connect/idle.ts';
import { measureWear } from './connect/wear.ts';

/** The host's connections to MCP servers, beside the SDK's own client on the same servers. */
export async function connect(context: GroupContext): Promise<Row[]> {
  return [
    ...(await measureCalls(context)),
    ...(await measureDialling(context)),
    ...(await measureIdle(context)),
    ...(await measureWear(context)),
  ];
}
