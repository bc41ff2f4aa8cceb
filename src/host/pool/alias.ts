import type { Origin, PooledTool } from './pool.ts';
import { renamed } from './pooled.ts';
import { shortHash } from './short-hash.ts';

/** The shortest limit names can be given under: an alias is a hash and a little of the name. */
export const SHORTEST_LIMIT = 16;

/** The name's beginning and a hash of the origin, so it stays the same as long as the tool is there. */
export function aliasOf(
  wanted: string,
  origin: Origin,
  limit: number,
  taken: ReadonlyMap<string, unknown>,
): string {
  const identity = JSON.stringify(origin.kind === 'mcp' ? [origin.server, origin.tool] : [origin.tool]);
  for (let salt = 0; ; salt++) {
    const suffix = `_${shortHash(salt === 0 ? identity : `${identity}${salt}`)}`;
    const name = wanted.slice(0, limit - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}

/** Kept, so that a tool whose alias stays is the same object in the next pool. */
const aliased = new WeakMap<PooledTool, PooledTool>();

/** The tool under its alias. */
export function alias(tool: PooledTool, name: string): PooledTool {
  const known = aliased.get(tool);
  if (known?.name === name) return known;
  const made = renamed(tool, name);
  aliased.set(tool, made);
  return made;
}
