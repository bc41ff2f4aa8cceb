import type { Progress } from '@modelcontextprotocol/client';
import type { CallToolResult, ListedTool } from '../protocol/mcp.ts';
import type { ExternalServerEntry } from '../protocol/server-entry.ts';
import type { HostErrorCode } from './connect/host-error.ts';
import type { SdkServerEntry, ServerAnswer, ServerLog } from './connect/world.ts';

/** A server as the user of a host names it. */
export type HostServerEntry = ExternalServerEntry | SdkServerEntry;

/** How a host is made. Every limit is in milliseconds and has a default that suits a person at work. */
export type HostOptions = {
  mcpServers?: Readonly<Record<string, HostServerEntry>>;
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
  /** Answers what servers ask; what has no handler is refused. */
  handlers?: HostHandlers;
  /** Where server processes run. */
  cwd?: string;
  /** Where the few variables come from that server processes inherit, proxies included; by default the program's own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Who we say we are. */
  clientInfo?: { name: string; version: string };
};

/** Who answers servers, by what they ask for. */
export type HostHandlers = {
  elicitation?: HostAnswer;
  sampling?: HostAnswer;
  /** The directories servers may know of, as `file:` URLs, or who tells them. */
  roots?:
    | readonly { uri: string; name?: string }[]
    | (() => Promise<readonly { uri: string; name?: string }[]>);
};

/** Answers one request of one server; `params` is what it sent. */
export type HostAnswer = (
  params: Readonly<Record<string, unknown>>,
  context: { readonly server: string; readonly signal: AbortSignal },
) => ReturnType<ServerAnswer>;

/** A tool with the server it belongs to; `name` is the server's own. */
export type HostTool = ListedTool & { readonly server: string };

export type HostCallOptions = {
  signal?: AbortSignal;
  /** The longest silence if `onProgress` is given, the longest time in all if not. */
  timeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Goes with the request as `_meta`. */
  meta?: Record<string, unknown>;
};

/** One server, as far as it has come. */
export type ServerStatus = {
  readonly state: 'pending' | 'connecting' | 'connected' | 'needs-auth' | 'failed' | 'disabled';
  /** When it came to this, in milliseconds since 1970. */
  readonly since: number;
  /** Dials since it was last connected, the present one included. */
  readonly attempt: number;
  /** Why it is not connected, or what it was lost of before: in words that say what to do. */
  readonly cause?: { readonly code: HostErrorCode; readonly message: string };
  /** When it is dialled again, in milliseconds since 1970. */
  readonly nextRetryAt?: number;
  /** The last lines its process wrote to stderr, without secrets. */
  readonly stderr: readonly string[];
  readonly era?: 'legacy' | 'modern';
  readonly protocolVersion?: string;
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** How many tools it offers. */
  readonly tools?: number;
};

/** What happens in a host, as it happens. */
export type HostEvent =
  | { type: 'state'; server: string; status: ServerStatus }
  /** How far the start is: of `total` servers that are to be dialled, so many have come or failed. */
  | { type: 'progress'; settled: number; total: number; waitingFor: readonly string[] }
  | { type: 'tools'; server: string }
  | { type: 'log'; server: string; entry: ServerLog }
  | { type: 'stderr'; server: string; line: string }
  /** Something that was tolerated and that a person may want to know. */
  | { type: 'warning'; server: string; message: string };

export type Ready = {
  /** Those to wait for; by default all that are dialled at the start. */
  servers?: readonly string[];
  /** The longest wait in milliseconds; by default until each has come or failed. */
  deadline?: number;
  signal?: AbortSignal;
};

/** What replacing a host's servers came to. */
export type ServersSet = { added: string[]; removed: string[]; errors: Record<string, string> };

export type { CallToolResult };
