import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ListedTool } from '../../src/protocol/mcp.ts';

const DIRECTORY = fileURLToPath(new URL('../../data/tool-catalogue/', import.meta.url));
const OTHERS = ['index.json', 'queries.json', 'unseen-queries.json'];

/** The tools of every server in the catalogue, by the server's short name. */
export function catalogue(): Map<string, ListedTool[]> {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.json') && !OTHERS.includes(file));
  return new Map(
    files.map((file) => {
      const { server, tools } = JSON.parse(readFileSync(DIRECTORY + file, 'utf8'));
      return [server, tools];
    }),
  );
}

/** The anomalies that the index of the catalogue lists. */
export function anomalies(): {
  namesOver64Prefixed: { shortId: { count: number } };
  collisionsWhenCutTo64: { items: { from: string[] }[] };
} {
  return JSON.parse(readFileSync(`${DIRECTORY}index.json`, 'utf8')).anomalies;
}
