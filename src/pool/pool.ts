import type { JsonSchema, ListedTool } from '../protocol/mcp.ts';

/** Where a tool of the pool comes from: what a call is routed by, never the name's text. */
export type Origin = { kind: 'builtin'; tool: string } | { kind: 'mcp'; server: string; tool: string };

/** One tool as a model is offered it; `listed` is what its origin declared. */
export type PooledTool = {
  readonly name: string;
  readonly description: string;
  /** What it accepts, in the form a model's API takes. */
  readonly inputSchema: JsonSchema;
  readonly origin: Origin;
  readonly listed: ListedTool;
  /** The tool or its server asks never to be put behind a search. */
  readonly alwaysLoad: boolean;
  /** Words by which a search should find it, too. */
  readonly searchHint?: string;
};

/** A tool that has an alias in the pool, or that a server listed twice. */
export type PoolDiagnostic = {
  fault: 'name-taken' | 'name-too-long' | 'name-empty' | 'listed-twice';
  origin: Origin;
  /** The regular name, `mcp__<server>__<tool>`, which is taken or not valid. */
  wanted: string;
  /** The name in the pool; for a tool listed twice, the name of the first. */
  name: string;
};

export type PoolInput = {
  builtIns: readonly ListedTool[];
  /** By key; in which order the servers came makes no difference. */
  servers: ReadonlyMap<string, readonly ListedTool[]>;
  /** The longest tool name the model accepts; at least 16. */
  maxNameLength: number;
  /** Tools that must not be offered are left out before names are given, so they take none from others. */
  isDenied?: (name: string, origin: Origin) => boolean;
  /** Another value whenever `isDenied` may judge otherwise; without it, it is asked about every tool every time. */
  rulesKey?: unknown;
  /** Appends the server's claims to descriptions: `(readOnly)`, `(destructive)`. */
  marks?: boolean;
  /** Keys of servers whose tools are all marked `alwaysLoad`. */
  alwaysLoadServers?: ReadonlySet<string>;
};

export type Pool = {
  /** Built-ins, then the tools of servers, each sorted by name. */
  readonly tools: readonly PooledTool[];
  readonly byName: ReadonlyMap<string, PooledTool>;
  /** By the server's key, then by the name the server itself gives the tool. */
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, PooledTool>>;
  /** The index of the last built-in, after which a prompt cache may break; -1 without any. */
  readonly cacheAfter: number;
  readonly diagnostics: readonly PoolDiagnostic[];
};
