import { readdirSync, readFileSync } from 'node:fs';
import type { ListedTool } from '../../src/protocol/mcp.ts';

const DIRECTORY = new URL('../../data/tool-catalogue/', import.meta.url);
const OTHERS = ['index.json', 'queries.json', 'unseen-queries.json'];

/** The tool lists of real servers, by a short name. */
export function realServers(): [server: string, tools: ListedTool[]][] {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.json') && !OTHERS.includes(file));
  return files.map((file) => {
    const { server, tools } = JSON.parse(readFileSync(new URL(file, DIRECTORY), 'utf8'));
    return [server, tools];
  });
}

/** `count` tools of real servers; servers are repeated under other names as needed. Every call returns new objects. */
export function manyServers(count: number): Map<string, ListedTool[]> {
  const servers = new Map<string, ListedTool[]>();
  let missing = count;
  for (let round = 0; missing > 0; round++) {
    for (const [server, tools] of realServers()) {
      const some = tools.slice(0, missing);
      missing -= some.length;
      if (some.length > 0) servers.set(round === 0 ? server : `${server}-${round}`, some);
    }
  }
  return servers;
}
