import type { JsonSchema, ListedTool } from '../protocol/mcp.ts';

/** The origin of a tool, by which calls are routed; the text of the name is never parsed. */
export type Origin = { kind: 'builtin'; tool: string } | { kind: 'mcp'; server: string; tool: string };

/** One tool as it is offered to a model; `listed` is its original definition. */
export type PooledTool = {
  readonly name: string;
  readonly description: string;
  /** The input schema in the form that model APIs accept. */
  readonly inputSchema: JsonSchema;
  readonly origin: Origin;
  readonly listed: ListedTool;
  /** The tool or its server requests that it is never deferred. */
  readonly alwaysLoad: boolean;
  /** Additional words by which a search finds the tool. */
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
  /** By key; the order of the servers makes no difference. */
  servers: ReadonlyMap<string, readonly ListedTool[]>;
  /** The longest tool name the model accepts; at least 16. */
  maxNameLength: number;
  /** Denied tools are removed before names are assigned, so that they do not take names from others. */
  isDenied?: (name: string, origin: Origin) => boolean;
  /** Changes whenever `isDenied` may return other results; without it, `isDenied` is called for every tool every time. */
  rulesKey?: unknown;
  /** Appends the server's annotations to descriptions: `(readOnly)`, `(destructive)`. */
  marks?: boolean;
  /** Keys of servers whose tools are all marked `alwaysLoad`. */
  alwaysLoadServers?: ReadonlySet<string>;
};

export type Pool = {
  /** Built-ins, then the tools of servers, each sorted by name. */
  readonly tools: readonly PooledTool[];
  readonly byName: ReadonlyMap<string, PooledTool>;
  /** By the server's key, then by the server's name for the tool. */
  readonly byServer: ReadonlyMap<string, ReadonlyMap<string, PooledTool>>;
  /** The index of the last built-in, after which a prompt cache breakpoint is set; -1 without any. */
  readonly cacheAfter: number;
  readonly diagnostics: readonly PoolDiagnostic[];
};
