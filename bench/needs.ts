import { readFileSync } from 'node:fs';

/** A search query and the tools that it should find, as in `data/tool-catalogue/queries.json`. */
export type Need = {
  query: string;
  kind: string;
  server: string;
  tools: string[];
  /** Equivalent tools of other servers, as `server/tool`. */
  also?: string[];
};

/** Reads a file of queries; throws an error that names the first invalid entry. */
export function readNeeds(file: string): Need[] {
  let needs: unknown;
  try {
    needs = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file}: ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
  if (!Array.isArray(needs) || needs.length === 0) throw new Error(`${file}: not an array of queries`);
  return needs.map((need, at) => {
    const fault = faultOf(need);
    if (fault) throw new Error(`${file}: entry ${at} ${fault}`);
    return { ...need, kind: typeof need.kind === 'string' ? need.kind : 'other' };
  });
}

function faultOf(need: unknown): string | undefined {
  if (typeof need !== 'object' || need === null) return 'is not an object';
  const { query, server, tools, also = [] } = need as Record<string, unknown>;
  if (typeof query !== 'string') return 'has no "query"';
  if (typeof server !== 'string') return 'has no "server"';
  if (!isTexts(tools) || tools.length === 0) return 'has no "tools"';
  return isTexts(also) ? undefined : 'has an "also" that is not a list of "server/tool"';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((it) => typeof it === 'string');
}
