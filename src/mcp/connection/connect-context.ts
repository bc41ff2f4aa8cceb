import type { Implementation, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { ExternalServerEntry, ToolPolicy } from '../../protocol/server-entry.ts';
import type { Secrets } from './secrets.ts';
import type { ClientFeatures, RequestLimiter } from './server-requests.ts';

/** A server in the program that drives the host. */
export type SdkServerEntry = {
  type: 'sdk';
  name: string;
  timeout?: number;
  tools?: ToolPolicy[];
  /** The server itself, where it lives in this process: what `createSdkMcpServer()` holds, an `McpServer`, or what makes one. */
  instance?: unknown;
  /** The state the handlers of `instance` see. */
  assigns?: object;
  start?: 'on-demand';
  required?: boolean;
  connectTimeoutMs?: number;
  idleTimeoutMs?: number;
  toolTimeoutsMs?: Record<string, number>;
  includeTools?: string[];
  excludeTools?: string[];
  /** What the program's SDK asked its server beforehand: the handshake need not be made again. */
  manifest?: ServerManifest;
};

/** The answers to `initialize` and `tools/list`, as the server gave them. */
export type ServerManifest = {
  readonly initializeResult: Record<string, unknown>;
  readonly toolsListResult?: Record<string, unknown>;
};

/** Anything the host can be told to connect to. */
export type ServerEntry = ExternalServerEntry | SdkServerEntry;

/** Whether what a server says of its tools is believed: it lives in the program, or a person said so. */
export function isTrustedEntry(entry: ServerEntry): boolean {
  return entry.type === 'sdk' || entry.trust === true;
}

/** An entry with what it refers to put in. */
export type ExpandedEntry = {
  readonly entry: ServerEntry;
  /** Values in it that are masked in all output. */
  readonly secrets: readonly string[];
  /** Those of them that are credentials, which are masked in everything the server sends. */
  readonly credentials?: readonly string[];
  /** Set for a server whose processes must not load code of the project: they run elsewhere. */
  readonly isolation?: Isolation;
};

/** Where processes of a server run that are kept apart from a project. */
export type Isolation = { readonly cwd: string; readonly project: string };

/** What a warning about a server is about, for programs that do more than show its message. */
export type WarningSubject =
  /** A line on the stdout of a stdio server that is no message of the protocol. */
  | { readonly kind: 'stdout'; readonly output: string }
  /** An entry of a list that is faulty, or the list itself; `set-aside` means that the entry is not offered. */
  | {
      readonly kind: 'list';
      readonly list: 'tools' | 'prompts' | 'resources' | 'resourceTemplates';
      readonly entry?: string;
      readonly fault: string;
      readonly outcome: 'kept' | 'set-aside' | 'list';
    };

/** What connecting takes from its surroundings. */
export type ConnectContext = {
  /** Where the few variables come from that a server process inherits. */
  env: Readonly<Record<string, string | undefined>>;
  /** Where server processes run; by default where the host does. */
  cwd?: string;
  connectTimeoutMs: number;
  clientInfo: Implementation;
  /** What a server may ask of us, and who answers; nothing by default. */
  clientFeatures?: (server: string, entry: ServerEntry) => ClientFeatures;
  /** The way to an in-process server; without it there are none. */
  openPort?: (server: string) => SdkPort;
  /** Hears each line a server process writes to stderr. */
  onStderr?: (server: string, line: string) => void;
  /** Hears of what a server sent that is no message of the protocol; nothing else comes of it. */
  onUnexpectedOutput?: (server: string, what: string, subject?: WarningSubject) => void;
  /** Hears that a server asked people or the model more often than it may; not each time. */
  onRequestRefused?: (server: string, message: string) => void;
  /** What each server has asked so far, by its name; without it every connection begins anew. */
  requestLimiters?: Map<string, RequestLimiter>;
  /** Hears what a server logs by the protocol. */
  onLog?: (server: string, entry: ServerLog) => void;
  /** Which era each server turned out to speak; by default it is asked at every dial. */
  eraCache?: EraCache;
  /** Keys, as `eras` has them, of processes that ended with the probe unanswered and for another reason as it seems: the next dial leaves the probe out. */
  skipProbeOnce?: Set<string>;
  /** What each server listed when it was last there; by default nobody knows. */
  toolCache?: ToolCache;
  /** Longest message taken from a server whose entry does not say; by default 16 MiB. */
  maxFrameBytes?: number;
  /** Puts in what an entry refers to, at each dial; throws a `HostError`. By default entries are taken as they are. */
  expand?: (server: string, entry: ServerEntry) => ExpandedEntry;
  /** What the one server that is dialled was entrusted with; whoever learns of more adds it. */
  secrets?: Secrets;
};

/** A log message of a server. */
export type ServerLog = { level: string; logger?: string; data: unknown };

/** What a server was found to speak, and, if it is the stateless protocol, what it said of itself. */
export type KnownEra =
  | { readonly era: 'legacy' }
  | { readonly era: 'modern'; readonly discover: Readonly<Record<string, unknown>> };

/** Remembers eras by what makes a server the same one: a key made of its entry. */
export type EraCache = {
  recall(key: string): KnownEra | undefined;
  remember(key: string, verdict: KnownEra | undefined): void;
  /** Writes now what is still to be written, where anything is. */
  flush?(): Promise<void>;
};

/** Remembers the tools of servers, by keys as eras have: they stand in until the server itself has listed them. */
export type ToolCache = {
  /** Without annotations: what nobody has verified carries no trust. Never rejects. */
  recall(key: string): Promise<readonly ListedTool[] | undefined>;
  remember(key: string, tools: readonly ListedTool[]): void;
  /** Writes now what is still to be written, where anything is. */
  flush?(): Promise<void>;
};

/** The way to one in-process server at the far end of the control channel. */
export type SdkPort = {
  /** Resolves with the reply to a request; what it resolves with for anything else is ignored. `signal` takes the request back. */
  send(message: JSONRPCMessage, signal: AbortSignal): Promise<unknown>;
  /** Hands over what the server sends by itself, until the returned function is called. */
  listen(receive: (message: unknown) => void): () => void;
};

/** A transport that is not started yet, and how to be rid of it. */
export type Dialed = {
  transport: Transport;
  /** Never rejects; resolves once nothing is left. */
  close(): Promise<void>;
  /** The last lines a process wrote to stderr, without secrets. */
  stderr(): readonly string[];
};

/** Makes the transport for an entry; nothing runs before the transport is started. */
export type Dial<Entry> = (name: string, entry: Entry, context: ConnectContext) => Promise<Dialed>;
