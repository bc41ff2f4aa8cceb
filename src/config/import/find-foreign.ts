import { visibleText } from '../../base/visible-text.ts';
import { readText } from '../files/read-text.ts';
import type { ForeignPlace, ForeignTool, ForeignWorld, Imported } from './foreign.ts';
import { readForeign } from './read-foreign.ts';

/** A file of another program that is there, and what it came to. */
export type FoundFile = Imported & { readonly tool: ForeignTool; readonly place: ForeignPlace };

/** Some programs keep more than servers in the file of a person; larger ones are not read. */
const LARGEST_FILE = 32 * 1024 * 1024;

/** Looks where each program keeps its file; never rejects, writes and starts nothing. */
export async function findForeign(tools: readonly ForeignTool[], world: ForeignWorld): Promise<FoundFile[]> {
  const looked = tools.flatMap((tool) =>
    tool.places(world).map(async (place): Promise<FoundFile | undefined> => {
      const { path, from } = place;
      const read = readText(
        path,
        from === 'project' ? { within: world.project } : { mostBytes: LARGEST_FILE },
      );
      if (read.state === 'absent') return undefined;
      if (read.state === 'read')
        return { tool, place, ...(await readForeign(tool, read.text, place, world)) };
      const fault = { level: 'error', scope: from, label: visibleText(path), message: read.fault } as const;
      return { tool, place, servers: [], faults: [fault] };
    }),
  );
  return (await Promise.all(looked)).filter((it) => it !== undefined);
}
