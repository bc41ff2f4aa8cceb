import { mcpToolName } from '../protocol/tool-name.ts';
import type { Origin } from './pool.ts';

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

/** The limits that the models we know of have for names of tools. */
const MODEL_LIMITS = [64, 128];

/**
 * Whether a name is the alias of a server's tool for some model, also while the tool has its full name. Not for allowing
 * anything: the hash is short enough for a server to find another tool name with the same one.
 */
export function isAliasOf(name: string, server: string, tool: string): boolean {
  return /_[0-9a-f]{8}$/.test(name) && aliasesOf(server, tool).includes(name);
}

/** The aliases of a server's tool, one for each limit. */
export function aliasesOf(server: string, tool: string): string[] {
  const wanted = mcpToolName(server, tool);
  return MODEL_LIMITS.map((limit) => aliasOf(wanted, { kind: 'mcp', server, tool }, limit, new Map()));
}

/** Eight characters that stand for a text, the same on every machine and in every run; no secret is safe behind them. */
export function shortHash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return hex(low).slice(0, 4).concat(hex(high).slice(0, 4));
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
