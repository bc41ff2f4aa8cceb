import type { GroupContext } from '../group.ts';
import type { Row } from '../row.ts';
import { measureAssembly } from './pool/assembly.ts';
import { measureListing } from './pool/listing.ts';

/** The tool pool of many servers: assembly, and listing of many tools. */
export async function pool(context: GroupContext): Promise<Row[]> {
  return [...(await measureAssembly(context)), ...(await measureListing(context))];
}
