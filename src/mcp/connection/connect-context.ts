import type { Implementation, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ListedTool, LogLevel } from '../../protocol/mcp.ts';
import type { ExternalServerEntry, ToolPolicy } from '../../protocol/server-entry.ts';
import type { HostAuth } from '../auth/auth-types.ts';
import type { SecretMask } from './secret-mask.ts';
import type { ClientFeatures, RequestLimiter } from './server-requests.ts';

/** A server in the program that controls the host. */
export type SdkServerEntry = {
  type: 'sdk';
  name: string;
  timeout?: number;
  tools?: ToolPolicy[];
  /** The server object in this process: from `createSdkMcpServer()`, an `McpServer`, or a function that creates one. */
  instance?: unknown;
  /** State for the handlers of `instance`. */
  assigns?: object;
  start?: 'on-demand';
  required?: boolean;
  connectTimeoutMs?: number;
  idleTimeoutMs?: number;
  toolTimeoutsMs?: Record<string, number>;
  includeTools?: string[];
  excludeTools?: string[];
  /** The handshake that the program's SDK has already made, so that it is not repeated. */
  manifest?: ServerManifest;
};

/** The responses of the server to `initialize` and `tools/list`. */
export type ServerManifest = {
  readonly initializeResult: Record<string, unknown>;
  readonly toolsListResult?: Record<string, unknown>;
};

/** An entry of any server that the host can connect to. */
export type ServerEntry = ExternalServerEntry | SdkServerEntry;

/** Whether the annotations of a server are trusted: it is part of the program, or the user marked it as trusted. */
export function isTrustedEntry(entry: ServerEntry): boolean {
  return entry.type === 'sdk' || entry.trust === true;
}

/** An entry with its variables expanded. */
export type ExpandedEntry = {
  readonly entry: ServerEntry;
  /** Values of the entry that are masked in all output. */
  readonly secrets: readonly string[];
  /** The credentials among `secrets`, which are also masked in everything the server sends. */
  readonly credentials?: readonly string[];
  /** Set for a server whose processes must not load code of the project. */
  readonly isolation?: Isolation;
};

/** The working directory of isolated processes, and the project they are isolated from. */
export type Isolation = { readonly cwd: string; readonly project: string };

/** The subject of a warning about a server, for programs that do more than display it. */
export type WarningSubject =
  /** A line on the stdout of a stdio server that is not a protocol message. */
  | { readonly kind: 'stdout'; readonly output: string }
  /** An invalid list entry, or an invalid list; `set-aside` means that the entry is not offered. */
  | {
      readonly kind: 'list';
      readonly list: 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'skills';
      readonly entry?: string;
      readonly fault: string;
      readonly outcome: 'kept' | 'set-aside' | 'list';
    };

/** Dependencies of connecting. */
export type ConnectContext = {
  /** The host's environment, from which server processes inherit a few variables. */
  env: Readonly<Record<string, string | undefined>>;
  /** Working directory of server processes. Default: that of the host. */
  cwd?: string;
  connectTimeoutMs: number;
  clientInfo: Implementation;
  /** The client capabilities with their request handlers. Default: none. */
  clientFeatures?: (server: string, entry: ServerEntry) => ClientFeatures;
  /** Opens the channel to an in-process server; without it there are none. */
  openPort?: (server: string) => SdkPort;
  /** Receives each line that a server process writes to stderr. */
  onStderr?: (server: string, line: string) => void;
  /** Receives output of a server that is not a protocol message and is ignored. */
  onUnexpectedOutput?: (server: string, what: string, subject?: WarningSubject) => void;
  /** Called when a server exceeds its request limits: for the 1st, 10th, 100th refused request and so on. */
  onRequestRefused?: (server: string, message: string) => void;
  /** Request counts per server name; without it each connection starts at zero. */
  requestLimiters?: Map<string, RequestLimiter>;
  /** The minimum level of log messages. Default: what the server sends without a request, or `info`. */
  logLevel?: () => LogLevel | undefined;
  /** Receives log messages of servers. */
  onLog?: (server: string, entry: ServerLog) => void;
  /** Receives each notification of a server except progress of calls, also before the server counts as connected. */
  onNotification?: (server: string, method: string, params: Readonly<Record<string, unknown>>) => void;
  /** The protocol era of each server. Default: each connection probes. */
  eraCache?: EraCache;
  /** Era keys of processes that exited during the probe, apparently for another reason; their next attempt skips it. */
  skipProbeOnce?: Set<string>;
  /** Cached tools of each server. Default: none. */
  toolCache?: ToolCache;
  /** Maximum message size for entries that set none. Default: 16 MiB. */
  maxFrameBytes?: number;
  /** Expands an entry at each attempt; throws a `HostError`. Default: entries are used as they are. */
  expand?: (server: string, entry: ServerEntry) => ExpandedEntry;
  /** Secrets of the server that is connected; the transports add more as they learn them. */
  secrets?: SecretMask;
  /** Obtains access tokens for remote servers. Default: only the headers of the entry are sent. */
  auth?: HostAuth;
};

/** A log message of a server. */
export type ServerLog = { level: string; logger?: string; data: unknown };

/** The protocol era of a server, with its discovery result for the stateless protocol. */
export type KnownEra =
  | { readonly era: 'legacy' }
  | { readonly era: 'modern'; readonly discover: Readonly<Record<string, unknown>> };

/** Remembers protocol eras, by a hash of the entry. */
export type EraCache = {
  recall(key: string): KnownEra | undefined;
  remember(key: string, verdict: KnownEra | undefined): void;
  /** Writes pending changes now. */
  flush?(): Promise<void>;
};

/** Remembers tools of servers, which are offered until the server itself has listed them. */
export type ToolCache = {
  /** Without annotations, since cached data is not verified. Never rejects. */
  recall(key: string): Promise<readonly ListedTool[] | undefined>;
  remember(key: string, tools: readonly ListedTool[]): void;
  /** Writes pending changes now. */
  flush?(): Promise<void>;
};

/** The channel to one in-process server at the other end of the control channel. */
export type SdkPort = {
  /** Resolves with the response to a request; ignored for other messages. `signal` cancels the request. */
  send(message: JSONRPCMessage, signal: AbortSignal): Promise<unknown>;
  /** Receives messages that the server sends on its own, until the returned function is called. */
  listen(receive: (message: unknown) => void): () => void;
};

/** A transport that has not been started, with its cleanup. */
export type Dialed = {
  transport: Transport;
  /** Never rejects; resolves once everything is closed. */
  close(): Promise<void>;
  /** The last stderr lines of the process, with secrets masked. */
  stderr(): readonly string[];
};

/** Creates the transport for an entry; nothing runs before the transport is started. */
export type Dial<Entry> = (name: string, entry: Entry, context: ConnectContext) => Promise<Dialed>;
