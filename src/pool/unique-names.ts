import { mcpToolName } from '../protocol/tool-name.ts';
import type { Origin, PoolDiagnostic, PooledTool } from './pool.ts';

/** The smallest supported limit for tool names: an alias needs room for its hash. */
export const MIN_NAME_LIMIT = 16;

/** A tool and the name it gets unless there is a conflict. */
export type Candidate = {
  readonly name: string;
  readonly sortKey: string;
  readonly tool: PooledTool;
  /** An earlier tool of the same origin with the same own name; only that one can be called. */
  readonly first: PooledTool | undefined;
};

/** The tools of one origin, sorted by name; `server` is undefined for built-ins. */
export type Offer = { readonly server: string | undefined; readonly candidates: readonly Candidate[] };

/** The tools of all offers under unique names. */
type UniqueNames = {
  readonly byName: Map<string, PooledTool>;
  /** The tools of each offer, sorted by their final names. */
  readonly lists: readonly (readonly Candidate[])[];
  readonly diagnostics: readonly PoolDiagnostic[];
};

/** Gives each tool a unique name: the first offer that wants a name gets it, later tools get an alias. */
export function uniqueNames(offers: readonly Offer[], limit: number): UniqueNames {
  const byName = new Map<string, PooledTool>();
  const conflicts = new Map<Candidate, PoolDiagnostic['fault']>();
  const affected = new Set<Offer>();
  for (const offer of offers) {
    for (const candidate of offer.candidates) {
      const fault = conflictOf(candidate, limit, byName);
      if (fault === undefined) byName.set(candidate.name, candidate.tool);
      else {
        conflicts.set(candidate, fault);
        affected.add(offer);
      }
    }
  }
  // Aliases are chosen after all natural names, so that an alias never takes one.
  const renamed = new Map<PooledTool, Candidate>();
  const diagnostics: PoolDiagnostic[] = [];
  for (const [candidate, fault] of conflicts) {
    if (fault === 'listed-twice') continue;
    const { name: wanted, tool } = candidate;
    const name = aliasOf(wanted, tool.origin, limit, byName);
    const alias = { ...candidate, name, sortKey: sortKey(name), tool: aliased(tool, name) };
    byName.set(name, alias.tool);
    renamed.set(tool, alias);
    diagnostics.push({ fault, origin: tool.origin, wanted, name });
  }
  for (const [{ name: wanted, tool, first = tool }, fault] of conflicts) {
    if (fault !== 'listed-twice') continue;
    diagnostics.push({ fault, origin: tool.origin, wanted, name: renamed.get(first)?.name ?? wanted });
  }
  const lists = offers.map((offer) => {
    if (!affected.has(offer)) return offer.candidates;
    const kept = offer.candidates.filter(({ first }) => first === undefined);
    return kept.map((it) => renamed.get(it.tool) ?? it).sort(compareNames);
  });
  return { byName, lists, diagnostics };
}

function conflictOf(
  { name, first }: Candidate,
  limit: number,
  taken: ReadonlyMap<string, unknown>,
): PoolDiagnostic['fault'] | undefined {
  if (first !== undefined) return 'listed-twice';
  if (name === '') return 'name-empty';
  if (name.length > limit) return 'name-too-long';
  return taken.has(name) ? 'name-taken' : undefined;
}

/** Orders names within a pool as English collation orders ASCII, independent of the machine's locale. */
export function compareNames(a: Sortable, b: Sortable): number {
  return compareUnits(a.sortKey, b.sortKey) || compareUnits(b.name, a.name);
}

type Sortable = { readonly name: string; readonly sortKey: string };

/** Orders by UTF-16 units: a total order that is the same on every machine. */
export function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text that a name is sorted by: `_` and `-` before digits, digits before letters, both cases of a letter alike. */
export function sortKey(name: string): string {
  // Of the characters in a name, only the underscore sorts elsewhere in ASCII.
  return name.toLowerCase().replace(/_/g, ' ');
}

/** Cached, so that a tool that keeps its alias is the same object in the next pool. */
const aliasedTools = new WeakMap<PooledTool, PooledTool>();

function aliased(tool: PooledTool, name: string): PooledTool {
  const known = aliasedTools.get(tool);
  if (known?.name === name) return known;
  const members = Object.getOwnPropertyDescriptors(tool);
  const renamed = { ...members, name: { ...members.name, value: name } };
  const made: PooledTool = Object.defineProperties({} as PooledTool, renamed);
  aliasedTools.set(tool, made);
  return made;
}

/** The beginning of the wanted name and a hash of the tool's origin, so that the alias is the same in every run. */
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

/** The maximum lengths of tool names of the model APIs. */
const MODEL_LIMITS = [64, 128];

/**
 * Whether a name is the alias of a server's tool for one of the model APIs. Must not be used to allow a call: the hash is
 * short enough for a server to find another tool name with the same hash.
 */
export function isAliasOf(name: string, server: string, tool: string): boolean {
  return /_[0-9a-f]{8}$/.test(name) && aliasesOf(server, tool).includes(name);
}

/** The aliases of a server's tool, one for each limit. */
export function aliasesOf(server: string, tool: string): string[] {
  const wanted = mcpToolName(server, tool);
  return MODEL_LIMITS.map((limit) => aliasOf(wanted, { kind: 'mcp', server, tool }, limit, new Map()));
}

/** A stable hash of eight hexadecimal characters; not cryptographic. */
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
