import { HostError, unknownServerError as unknown } from '../mcp/errors/host-error.ts';

import type { Servers } from '../mcp/servers/servers.ts';
import { Assembler } from '../pool/assemble.ts';
import type { PinWatch } from '../pool/pinning/pin-watch.ts';
import type { Pool, PoolDiagnostic, PooledTool } from '../pool/pool.ts';
import { serverArguments } from '../pool/schema/model-schema.ts';
import { type SearchOptions, searchPool, serversOf } from '../pool/search/search-pool.ts';
import { ToolIndex } from '../pool/search/tool-index.ts';
import { tokenCost } from '../pool/token-cost.ts';
import type { CallToolResult, JsonSchema, ListedTool, ToolAnnotations } from '../protocol/mcp.ts';
import type { HostCallOptions } from './host-options.ts';

/** How many tools a search returns by default. */
const FEW = 5;

/** Options of `host.pool()`. */
export type PoolOptions = {
  /** Maximum length of a tool name: 128 for Anthropic (default), 64 for OpenAI. */
  maxNameLength?: number;
  /** Appends annotations to descriptions: `(readOnly)`, `(destructive)`. */
  marks?: boolean;
};

/** A tool as a model receives it, with its server and original name. */
export type PoolTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly server: string;
  /** The server's name for the tool. */
  readonly tool: string;
  /** Estimated tokens of the definition. */
  readonly tokens: number;
  /** Annotations as declared by the server. */
  readonly annotations?: ToolAnnotations;
  /**
   * Why the definition is not accepted; undefined if it is. Calls of changed and new tools are rejected, unless the host
   * has `changedTools: 'allow'`.
   */
  readonly change: string | undefined;
};

/** Options of a tool search; by default it returns at most 5 tools. */
export type PoolSearch = Partial<SearchOptions>;

/** The inputs of a pool. */
type PoolParts = {
  readonly pool: Pool;
  readonly index: ToolIndex;
  /** Runs the work while no other search uses the index. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  changeOf(server: string, tool: ListedTool): string | undefined;
  call(
    server: string,
    tool: string,
    args: Record<string, unknown>,
    options?: HostCallOptions,
  ): Promise<CallToolResult>;
};

/**
 * The tools of a host at one moment, with unique names that a model accepts. The same tools always produce
 * byte-identical definitions, so that prompt caches stay valid.
 */
export class ToolPool {
  /** Sorted by name. */
  readonly tools: readonly PoolTool[];
  /** Estimated tokens of all definitions. */
  readonly tokens: number;
  /** Tools with an alias instead of `mcp__<server>__<tool>`, and tools that a server listed twice, with the reason. */
  readonly diagnostics: readonly PoolDiagnostic[];
  readonly #parts: PoolParts;
  readonly #shown = new Map<PooledTool, PoolTool>();

  constructor(parts: PoolParts) {
    this.#parts = parts;
    for (const tool of parts.pool.tools) {
      const shown = poolTool(tool, parts);
      if (shown) this.#shown.set(tool, shown);
    }
    this.tools = [...this.#shown.values()];
    this.tokens = this.tools.reduce((sum, { tokens }) => sum + tokens, 0);
    this.diagnostics = parts.pool.diagnostics;
  }

  get(name: string): PoolTool | undefined {
    const tool = this.#parts.pool.byName.get(name);
    return tool && this.#shown.get(tool);
  }

  /** Calls a tool by its pool name, like `host.callTool`. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    options: HostCallOptions = {},
  ): Promise<CallToolResult> {
    const found = this.#parts.pool.byName.get(name);
    if (found?.origin.kind !== 'mcp') {
      throw new HostError('unknown-tool', '', `this pool has no tool ${JSON.stringify(name)}`, {
        hasRun: 'no',
      });
    }
    const { server, tool } = found.origin;
    return this.#parts.call(server, tool, serverArguments(found.listed.inputSchema, args), options);
  }

  /**
   * Searches tools by a description in one of about a dozen languages, or with the query syntax of the built-in tool
   * `ToolSearch` (see docs/tool-pool.md); best match first.
   */
  async search(text: string, options: PoolSearch = {}): Promise<PoolTool[]> {
    const search = () => searchPool(text, { limit: FEW, ...options }, this.#parts);
    const { tools, unknownServer } = await this.#parts.exclusive(search);
    if (unknownServer) throw unknown(unknownServer.name, serversOf(this.#parts.pool));
    return tools.flatMap((tool) => this.#shown.get(tool) ?? []);
  }
}

function poolTool(tool: PooledTool, { changeOf }: PoolParts): PoolTool | undefined {
  const { name, description, inputSchema, origin, listed } = tool;
  if (origin.kind !== 'mcp') return undefined;
  return {
    name,
    description,
    inputSchema,
    server: origin.server,
    tool: origin.tool,
    tokens: tokenCost(tool),
    ...(listed.annotations && { annotations: listed.annotations }),
    // Computed on access: of thousands of tools few are called.
    get change() {
      return changeOf(origin.server, listed);
    },
  };
}

/** The maximum length of tool names with most models. */
const MAX_NAME_LENGTH = 128;

type HostPoolsDeps = Pick<PoolParts, 'call'> & {
  readonly servers: Servers;
  readonly watch: PinWatch;
};

/** Creates the pools of a host. Unchanged parts are shared with the previous pool. */
export class HostPools {
  readonly #deps: HostPoolsDeps;
  readonly #index = new ToolIndex();
  /** One assembler for each combination of options, so that alternating between them costs nothing. */
  readonly #assemblers = new Map<string, Assembler>();

  #searching: Promise<unknown> = Promise.resolve();

  constructor(deps: HostPoolsDeps) {
    this.#deps = deps;
  }

  /** Pools share an index that covers one pool at a time, so searches run one after the other. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#searching.then(work);
    this.#searching = done.catch(() => {});
    return done;
  }

  make({ maxNameLength = MAX_NAME_LENGTH, marks = false }: PoolOptions): ToolPool {
    const { servers, watch, call } = this.#deps;
    const key = `${maxNameLength} ${marks}`;
    const assembler = this.#assemblers.get(key) ?? new Assembler();
    this.#assemblers.set(key, assembler);
    const pool = assembler.assemble({ builtIns: [], servers: servers.tools, maxNameLength, marks });
    return new ToolPool({
      pool,
      index: this.#index,
      exclusive: (work) => this.#exclusive(work),
      call,
      changeOf: (name, tool) => {
        const server = servers.all.get(name);
        return server && watch.changeOf(name, server, tool)?.text;
      },
    });
  }
}
