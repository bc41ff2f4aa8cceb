import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureAssembly } from './pool/assembly.ts';
import { measureListing } from './pool/listing.ts';

/** The tools of many servers as one list: how fast it is made, and how fast a long list is read. */
export async function pool(context: GroupContext): Promise<Row[]> {
  return [...(await measureAssembly(context)), ...(await measureListing(context))];
}
