import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureFinding } from './search/finding.ts';
import { measureSpeed } from './search/speed.ts';

/** Needs in people's words, over the tools of real servers: what is found, what it costs, how fast it is. */
export async function search(context: GroupContext): Promise<Row[]> {
  return [...(await measureFinding(context)), ...(await measureSpeed(context))];
}
