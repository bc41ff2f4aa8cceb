import { nearest } from '../../base/text/nearest.ts';
import { normalizeName } from '../../protocol/tool-name.ts';

/** What the words after `toolplane call` name, and the words that are left for the arguments. */
export type CallTarget = {
  readonly server: string;
  readonly tool?: string;
  readonly words: readonly string[];
};

/**
 * Reads `<server> <tool>`, the full name that models know (`mcp__<server>__<tool>`, or an alias of it) and `<server>/<tool>`.
 * A word that is the name of a server is always that server.
 */
export function callTarget([first = '', ...rest]: readonly string[], servers: readonly string[]): CallTarget {
  const [second, ...words] = rest;
  const two = { server: first, ...(second !== undefined && { tool: second }), words };
  if (servers.includes(first)) return two;
  const owner = longest(servers.filter((server) => first.startsWith(`mcp__${normalizeName(server)}__`)));
  if (owner !== undefined) return { server: owner, tool: first, words: rest };
  const before = longest(servers.filter((server) => first.startsWith(`${server}/`)));
  if (before !== undefined) return { server: before, tool: first.slice(before.length + 1), words: rest };
  return two;
}

/** The full name that was most likely meant by one whose server is not known; undefined if it is no full name. */
export function nearestFullName(name: string, servers: readonly string[]): string | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  if (server === undefined) return undefined;
  const meant = nearest(server, servers.map(normalizeName));
  return meant === undefined ? undefined : `mcp__${meant}__${tool}`;
}

/** `mcp__a__b__c` is `c` of the server `a__b` where there is one, as everywhere else. */
function longest(names: readonly string[]): string | undefined {
  return names.toSorted((a, b) => b.length - a.length)[0];
}
