import type { ListedTool } from '../../protocol/mcp.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import { compareNames, compareUnits } from './order.ts';
import { shortHash } from './short-hash.ts';

/** Where a tool of the pool comes from: what a call is routed by, never the name's text. */
export type Origin = { kind: 'builtin'; tool: string } | { kind: 'mcp'; server: string; tool: string };

/** One tool as a model is offered it; `listed` is what its origin declared. */
export type PooledTool = {
  name: string;
  description: string;
  inputSchema: ListedTool['inputSchema'];
  origin: Origin;
  listed: ListedTool;
};

/** A tool that is offered under another name than its own, or was declared more than once. */
export type PoolDiagnostic = {
  fault: 'name-taken' | 'name-too-long' | 'listed-twice';
  origin: Origin;
  /** The name it would have had. */
  wanted: string;
  /** The name it is offered under. */
  name: string;
};

export type PoolInput = {
  builtIns: readonly ListedTool[];
  /** By key; in which order the servers came makes no difference. */
  servers: ReadonlyMap<string, readonly ListedTool[]>;
  /** The longest tool name the model accepts. */
  maxNameLength: number;
  /** Tools that must not be offered are left out before names are given, so they take none from others. */
  isDenied?: (name: string, origin: Origin) => boolean;
  /** Appends the server's claims to descriptions: `(readOnly)`, `(destructive)`. */
  marks?: boolean;
};

export type Pool = {
  /** Built-ins, then the tools of servers, each sorted by name. */
  tools: readonly PooledTool[];
  byName: ReadonlyMap<string, PooledTool>;
  /** The index of the last built-in, after which a prompt cache may break; -1 without any. */
  cacheAfter: number;
  diagnostics: readonly PoolDiagnostic[];
};

/** Merges all tools into one pool of unique names; the same input gives the same bytes. */
export function assemble(input: PoolInput): Pool {
  const diagnostics: PoolDiagnostic[] = [];
  const byName = new Map<string, PooledTool>();
  const offer = ({ listed, origin }: Candidate, name: string) =>
    byName.set(name, {
      name,
      description: describe(listed, input.marks === true),
      inputSchema: listed.inputSchema,
      origin,
      listed,
    });
  // Natural names are all given before any alias, so that an alias never takes one.
  const unnamed: (Candidate & { fault: 'name-taken' | 'name-too-long' })[] = [];
  for (const candidate of candidates(input)) {
    const { wanted, origin } = candidate;
    if (candidate.isRepeat) diagnostics.push({ fault: 'listed-twice', origin, wanted, name: wanted });
    else if (wanted.length > input.maxNameLength) unnamed.push({ ...candidate, fault: 'name-too-long' });
    else if (byName.has(wanted)) unnamed.push({ ...candidate, fault: 'name-taken' });
    else offer(candidate, wanted);
  }
  for (const candidate of unnamed) {
    const name = aliasOf(candidate, input.maxNameLength, byName);
    offer(candidate, name);
    diagnostics.push({ fault: candidate.fault, origin: candidate.origin, wanted: candidate.wanted, name });
  }
  const all = [...byName.values()].sort((a, b) => compareNames(a.name, b.name));
  const builtIns = all.filter((it) => it.origin.kind === 'builtin');
  const tools = [...builtIns, ...all.filter((it) => it.origin.kind === 'mcp')];
  return { tools, byName, cacheAfter: builtIns.length - 1, diagnostics };
}

type Candidate = { wanted: string; listed: ListedTool; origin: Origin; isRepeat: boolean };

/** In the order in which names are given: built-ins, then servers by key, each by the tool's own name. */
function candidates({ builtIns, servers, isDenied }: PoolInput): Candidate[] {
  const groups = [
    named(
      builtIns,
      (tool) => tool,
      (tool) => ({ kind: 'builtin', tool }),
    ),
    ...[...servers]
      .sort(([a], [b]) => compareUnits(a, b))
      .map(([server, tools]) =>
        named(
          tools,
          (tool) => mcpToolName(server, tool),
          (tool) => ({ kind: 'mcp', server, tool }),
        ),
      ),
  ];
  return groups.flat().filter(({ wanted, origin }) => !isDenied?.(wanted, origin));
}

function named(
  tools: readonly ListedTool[],
  nameOf: (tool: string) => string,
  originOf: (tool: string) => Origin,
): Candidate[] {
  return tools
    .toSorted((a, b) => compareUnits(a.name, b.name))
    .map((listed, at, sorted) => ({
      wanted: nameOf(listed.name),
      listed,
      origin: originOf(listed.name),
      // The origin knows both by one name, so there is one tool to call.
      isRepeat: sorted[at - 1]?.name === listed.name,
    }));
}

/** The name's beginning and a hash of the origin, so it stays the same as long as the tool is there. */
function aliasOf({ wanted, origin }: Candidate, limit: number, taken: ReadonlyMap<string, unknown>): string {
  const identity = JSON.stringify(origin.kind === 'mcp' ? [origin.server, origin.tool] : [origin.tool]);
  for (let salt = 0; ; salt++) {
    const suffix = `_${shortHash(salt === 0 ? identity : `${identity}${salt}`)}`;
    const alias = wanted.slice(0, Math.max(0, limit - suffix.length)) + suffix;
    if (!taken.has(alias)) return alias;
  }
}

function describe({ description = '', annotations }: ListedTool, isMarked: boolean): string {
  if (!isMarked) return description;
  const marks = [
    description,
    annotations?.readOnlyHint === true ? '(readOnly)' : '',
    annotations?.destructiveHint === true ? '(destructive)' : '',
  ];
  return marks.filter((part) => part !== '').join(' ');
}
