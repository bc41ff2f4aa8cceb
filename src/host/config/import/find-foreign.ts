import { open } from 'node:fs/promises';
import type { ForeignPlace, ForeignTool, ForeignWorld, Imported } from './foreign.ts';
import { readForeign } from './read-foreign.ts';

/** A file of another program that is there, and what it came to. */
export type FoundFile = Imported & { readonly tool: ForeignTool; readonly place: ForeignPlace };

/** Larger files are not read: nobody writes that many servers. */
const LARGEST_FILE = 32 * 1024 * 1024;

/** Looks where each program keeps its file; never rejects, writes and starts nothing. */
export async function findForeign(tools: readonly ForeignTool[], world: ForeignWorld): Promise<FoundFile[]> {
  const looked = tools.flatMap((tool) =>
    tool.places(world).map(async (place): Promise<FoundFile | undefined> => {
      const read = await readText(place.path);
      if (read === undefined) return undefined;
      if (typeof read === 'string') return { tool, place, ...(await readForeign(tool, read, place, world)) };
      const fault = { level: 'error', scope: place.from, label: place.path, message: read.fault } as const;
      return { tool, place, servers: [], faults: [fault] };
    }),
  );
  return (await Promise.all(looked)).filter((it) => it !== undefined);
}

async function readText(path: string): Promise<string | { readonly fault: string } | undefined> {
  try {
    await using file = await open(path, 'r');
    const stat = await file.stat();
    if (!stat.isFile()) return { fault: 'it is no regular file' };
    if (stat.size > LARGEST_FILE) return { fault: `it has ${stat.size} bytes, more than ${LARGEST_FILE}` };
    return (await file.readFile('utf8')).replace(/^\ufeff/, '');
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { fault: `it cannot be read (${code ?? 'unknown'})` };
  }
}
