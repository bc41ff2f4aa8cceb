import { readFileSync } from 'node:fs';

/** A search query and the tools that it should find, as in `data/tool-catalogue/queries.json`. */
export type SearchQuery = {
  query: string;
  kind: string;
  server: string;
  tools: string[];
  /** Equivalent tools of other servers, as `server/tool`. */
  also?: string[];
};

/** Reads a file of queries; throws an error that names the first invalid entry. */
export function readQueries(file: string): SearchQuery[] {
  let queries: unknown;
  try {
    queries = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
  if (!Array.isArray(queries) || queries.length === 0) throw new Error(`${file}: not an array of queries`);
  return queries.map((query, at) => {
    const fault = faultOf(query);
    if (fault) throw new Error(`${file}: entry ${at} ${fault}`);
    return { ...query, kind: typeof query.kind === 'string' ? query.kind : 'other' };
  });
}

function faultOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'is not an object';
  const { query, server, tools, also = [] } = value as Record<string, unknown>;
  if (typeof query !== 'string') return 'has no "query"';
  if (typeof server !== 'string') return 'has no "server"';
  if (!isTexts(tools) || tools.length === 0) return 'has no "tools"';
  return isTexts(also) ? undefined : 'has an "also" that is not a list of "server/tool"';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((it) => typeof it === 'string');
}
