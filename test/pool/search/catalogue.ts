import { readdirSync, readFileSync } from 'node:fs';
import { assemble } from '../../../src/pool/assemble.ts';
import type { PooledTool } from '../../../src/pool/pool.ts';

const DIRECTORY = new URL('../../../data/tool-catalogue/', import.meta.url);

export type Need = { query: string; server: string; tools: string[]; also?: string[] };

/** Every tool of the catalogue, in one pool. */
export function catalogue(): readonly PooledTool[] {
  const files = readdirSync(DIRECTORY).filter(
    (file) => /\.json$/.test(file) && !/(?:index|queries)\.json$/.test(file),
  );
  const servers = files.map((file) => JSON.parse(readFileSync(new URL(file, DIRECTORY), 'utf8')));
  return assemble({
    builtIns: [],
    servers: new Map(servers.map(({ server, tools }) => [server, tools])),
    maxNameLength: 128,
  }).tools;
}

export function needs(file = 'queries.json'): Need[] {
  return JSON.parse(readFileSync(new URL(file, DIRECTORY), 'utf8'));
}
