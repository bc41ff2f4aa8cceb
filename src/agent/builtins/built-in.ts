import type { Workspace } from '../../permissions/path.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ToolOutcome } from '../loop/tool-call.ts';
import type { FileMemory } from './file-memory.ts';
import type { LeftOvers } from './left-overs.ts';
import type { WakeQueue } from './wake-queue.ts';

/** One built-in tool: what a model is told of it, and what a call does. A file each, and a row in `table.ts`. */
export type BuiltIn = {
  readonly listed: ListedTool;
  /** Calls that may run beside their neighbours though they change something: each has its own corner. */
  readonly beside?: 'others';
  /** The member of the input that names a file or directory: `realInput` resolves it before permission is decided. */
  readonly pathMember?: string;
  /** The member of the input that names a resource, of the server that `server` names: one that its server does not list is asked about. */
  readonly uriMember?: string;
  /** Never rejects for what the model can mend: that is a failed outcome. */
  run(
    input: Readonly<Record<string, unknown>>,
    world: BuiltInWorld,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
};

/** What built-in tools take from the session they run in. */
export type BuiltInWorld = {
  readonly workspace: Workspace;
  /** What commands inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False for what a deny rule hides: searches leave it out. */
  isReadable(path: string): boolean;
  /** What this conversation has read, and in which state. */
  readonly files: FileMemory;
  readonly wake: WakeQueue;
  readonly leftOvers: LeftOvers;
  /** Dials a server that waits to be asked for. */
  connect(name: string, signal: AbortSignal): Promise<ConnectOutcome>;
  /** Finds tools that were not told yet, and has them told from the next round on. */
  findTools(query: string, limit: number, signal: AbortSignal): Promise<FoundTools>;
  readonly resources: ResourceReader;
  /** The kinds of sub-agents there are, for `Task`. */
  readonly agents: Readonly<Record<string, { readonly description: string }>>;
  /** Runs a sub-agent to its end and gives its last words. */
  delegate(request: Delegation, signal: AbortSignal): Promise<ToolOutcome>;
};

/** What came of dialling; `tools` are the names they have in the pool from the next round on, `searchable` how many of them only a search finds. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly tools: readonly string[]; readonly searchable?: number }
  | { readonly kind: 'already-connected' }
  | { readonly kind: 'unknown'; readonly available: readonly string[] }
  | { readonly kind: 'failed'; readonly fault: string };

/** What a search for tools came to; each tool by the name it has in the pool. */
export type FoundTools = {
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly isTold: boolean;
  }[];
  /** Names that were asked for and are none, with what may be meant. */
  readonly unknown: readonly UnknownName[];
  readonly unknownServer?: UnknownName;
  /** How many tools only a search finds. */
  readonly searchable: number;
  readonly servers: readonly string[];
  /** Servers that can be connected. */
  readonly waiting: readonly string[];
};

type UnknownName = { readonly name: string; readonly meant?: string };

/** What servers have to be read. */
export type ResourceReader = {
  list(server: string | undefined, signal: AbortSignal): Promise<ResourceLists | { readonly fault: string }>;
  /** Never rejects: a fault is a failed outcome. */
  read(server: string, uri: string, signal: AbortSignal): Promise<ToolOutcome>;
};

export type ResourceLists = {
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedResource[];
  /** Servers that could not list theirs, a line each. */
  readonly faults: readonly string[];
};

/** A resource, or a template of some, with the server it belongs to. */
export type ListedResource = {
  readonly server: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
};

export type Delegation = {
  readonly description: string;
  readonly prompt: string;
  readonly type: string;
  readonly model?: string;
};
