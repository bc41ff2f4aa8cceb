import type { Progress } from '@modelcontextprotocol/client';
import type { Broadcast } from '../base/broadcast.ts';
import type { LoadedConfiguration } from '../config/loaded-configuration.ts';
import type { SdkServerEntry, ServerLog, WarningSubject } from '../mcp/connection/connect-context.ts';
import type { Prompt } from '../mcp/discovery/prompt.ts';
import type { Resource, ResourceTemplate } from '../mcp/discovery/resource.ts';
import type { ServerStatus } from '../mcp/servers/server-status.ts';
import type { StartProgress } from '../mcp/servers/servers-options.ts';
import type { ListedTool } from '../protocol/mcp.ts';
import type { ExternalServerEntry } from '../protocol/server-entry.ts';

/** A server entry of `createHost()`. */
export type HostServerEntry = ExternalServerEntry | InProcessEntry;

/** An in-process server: the result of `toolServer()` or `createSdkMcpServer()`, or an `McpServer` as `instance`. */
export type InProcessEntry = Omit<SdkServerEntry, 'tools' | 'manifest' | 'timeout'> & {
  readonly timeout?: number;
};

/** Options of `createHost()`. All limits are in milliseconds. */
export type HostOptions = {
  mcpServers?: Readonly<Record<string, HostServerEntry>>;
  /** What is configured on this machine, as `loadConfiguration()` gives it: `mcpServers` beat it, and what is saved later is applied. */
  configuration?: LoadedConfiguration;
  /** From dialling to the first list of tools; by default 30 s. */
  connectTimeoutMs?: number;
  /** The longest one call may take; by default 100,000,000 ms, a little more than a day. */
  callTimeoutMs?: number;
  /** The longest one call may stay silent; by default as long as it likes. */
  idleTimeoutMs?: number;
  /** How many servers are dialled at a time. */
  dialling?: {
    /** Processes of this machine; by default 3. */
    local?: number;
    /** Servers on the network; by default 20. */
    remote?: number;
    /** After how long a silent dial lets the next one begin; by default 2 s. */
    yieldAfterMs?: number;
  };
  /** How servers that are lost are dialled again. */
  retry?: {
    /** The first wait; each one after it is twice as long, give or take. */
    firstMs?: number;
    /** The longest wait. */
    ceilingMs?: number;
    /** How many times in a row at most; by default without end. */
    attempts?: number;
  };
  /** How often a server that says nothing is asked for a sign of life; 0 never asks. */
  heartbeatMs?: number;
  /** Longest message taken from a server; by default 16 MiB. */
  maxFrameBytes?: number;
  /** Where it is kept what tools were when they were accepted, so that a change is seen after a restart; by default only in memory. */
  pinsDirectory?: string;
  /**
   * What `callTool()` and `pool().call()` do with a tool that is not what was accepted, or that hides something: `reject`
   * with the code `tool-changed`, which is the default, or `allow`. `accept()` accepts it.
   */
  changedTools?: 'reject' | 'allow';
  /** Answers what servers ask; what has no handler is refused. */
  handlers?: HostHandlers;
  /**
   * Where it is kept which protocol each server speaks, and which tools it had. By default the protocols alone are kept, in
   * `cache` of `TOOLPLANE_HOME` or `~/.toolplane`; `false` keeps both in memory only.
   */
  cacheDirectory?: string | false;
  /** Where server processes run. */
  cwd?: string;
  /** Where the few variables come from that server processes inherit, proxies included; by default the program's own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Who we say we are. */
  clientInfo?: { name: string; version: string };
};

/** Handlers for the requests of servers, by method. */
export type HostHandlers = {
  elicitation?: HostAnswer;
  sampling?: HostAnswer;
  /** The directories servers may know of, as `file:` URLs, or who tells them. */
  roots?:
    | readonly { uri: string; name?: string }[]
    | (() => Promise<readonly { uri: string; name?: string }[]>);
};

/** Answers one request of a server; `params` are the parameters of the request. */
export type HostAnswer = (
  params: Readonly<Record<string, unknown>>,
  context: { readonly server: string; readonly signal: AbortSignal },
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/** A tool and the server that offers it; `name` is the server's own name for the tool. */
export type HostTool = ListedTool & { readonly server: string };

/** A resource and the server that offers it. */
export type HostResource = Resource & { readonly server: string };

/** A resource template and the server that offers it. */
export type HostResourceTemplate = ResourceTemplate & { readonly server: string };

/** A prompt and the server that offers it. */
export type HostPrompt = Prompt & { readonly server: string };

/** Options of `host.callTool()`. */
export type HostCallOptions = {
  signal?: AbortSignal;
  /** The longest silence if `onProgress` is given, the longest time in all if not. */
  timeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Goes with the request as `_meta`. */
  meta?: Record<string, unknown>;
};

/** The events of a host: `on(listener)` until it is disposed, or `for await` until the host is closed. */
export type HostEvents = Pick<Broadcast<HostEvent>, 'on' | typeof Symbol.asyncIterator>;

/** An event of a host. */
export type HostEvent =
  | { type: 'state'; server: string; status: ServerStatus }
  | ({ type: 'progress' } & StartProgress)
  | { type: 'tools'; server: string }
  /** Something that was saved is applied: these servers came, went, or were started anew. */
  | { type: 'configured'; added: readonly string[]; removed: readonly string[]; restarted: readonly string[] }
  /** A tool is not what was accepted of it: `text` says how it differs; see `changes()`. */
  | { type: 'changed'; server: string; tool: string; text: string }
  | { type: 'log'; server: string; entry: ServerLog }
  | { type: 'stderr'; server: string; line: string }
  /** Something that was tolerated and that a person may want to know. */
  | { type: 'warning'; server: string; message: string; subject?: WarningSubject };
