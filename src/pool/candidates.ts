import type { ListedTool } from '../protocol/mcp.ts';
import { normalizeName } from '../protocol/tool-name.ts';
import { compareNames, compareUnits, weigh } from './order.ts';
import type { Origin, PooledTool } from './pool.ts';
import { pooled, type Telling } from './pooled.ts';

/** A tool and the name it would like. */
export type Candidate = {
  readonly name: string;
  readonly weight: string;
  readonly tool: PooledTool;
  /** The one its origin has listed by that name before; it knows both by one name, so there is one tool to call. */
  readonly first: PooledTool | undefined;
};

/** Who lists the tools: a server by its key, or nobody but us. */
export type Lister = { readonly kind: 'builtin' } | { readonly kind: 'mcp'; readonly server: string };

/** The tools of one origin in the order of their names; of two that want one name, the first by its own name comes first. */
export function candidates(lister: Lister, tools: readonly ListedTool[], telling: Telling): Candidate[] {
  const prefix = lister.kind === 'mcp' ? `mcp__${normalizeName(lister.server)}__` : '';
  const prefixWeight = weigh(prefix);
  const found = tools.map((listed): Candidate => {
    const own = normalizeName(listed.name);
    const name = prefix + own;
    const tool = pooled(name, originOf(lister, listed.name), listed, telling);
    return { name, weight: prefixWeight + weigh(own), tool, first: undefined };
  });
  found.sort((a, b) => compareNames(a, b) || compareUnits(ownName(a), ownName(b)));
  return withRepeats(found);
}

function withRepeats(sorted: readonly Candidate[]): Candidate[] {
  let first: Candidate | undefined;
  return sorted.map((it) => {
    if (first && ownName(first) === ownName(it)) return { ...it, first: first.tool };
    first = it;
    return it;
  });
}

function ownName({ tool }: Candidate): string {
  return tool.listed.name;
}

function originOf(lister: Lister, tool: string): Origin {
  return lister.kind === 'mcp' ? { kind: 'mcp', server: lister.server, tool } : { kind: 'builtin', tool };
}
