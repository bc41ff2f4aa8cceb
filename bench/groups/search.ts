import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureFinding } from './search/finding.ts';
import { measureSpeed } from './search/speed.ts';

/** Tool search over the tools of real servers: recall, token cost and speed. */
export async function search(context: GroupContext): Promise<Row[]> {
  return [...(await measureFinding(context)), ...(await measureSpeed(context))];
}
