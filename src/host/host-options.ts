import type { Progress } from '@modelcontextprotocol/client';
import type { Broadcast } from '../base/async/broadcast.ts';
import type { LoadedConfiguration } from '../config/running-configuration.ts';
import type { AuthStore, OnAuthorize } from '../mcp/auth/auth-types.ts';
import type { IdentityProvider } from '../mcp/auth/token-grants.ts';
import type { SdkServerEntry, ServerLog, WarningSubject } from '../mcp/connection/connect-context.ts';
import type { Prompt, Resource, ResourceTemplate } from '../mcp/discovery/list-entries.ts';
import type { ServerSkill } from '../mcp/discovery/skill-entries.ts';
import type { ServerStatus } from '../mcp/servers/server-status.ts';
import type { StartProgress } from '../mcp/servers/servers-options.ts';
import type { ListedTool, LogLevel } from '../protocol/mcp.ts';
import type { ExternalServerEntry } from '../protocol/server-entry.ts';
import type { HostChannels } from './host-channels.ts';

/** A server entry of `createHost()`. */
export type HostServerEntry = ExternalServerEntry | InProcessEntry;

/** An in-process server: the result of `toolServer()` or `createSdkMcpServer()`, or an `McpServer` as `instance`. */
export type InProcessEntry = Omit<SdkServerEntry, 'tools' | 'manifest' | 'timeout'> & {
  readonly timeout?: number;
};

/** Options of `createHost()`. All times are in milliseconds. */
export type HostOptions = {
  mcpServers?: Readonly<Record<string, HostServerEntry>>;
  /** The result of `loadConfiguration()`. Servers in `mcpServers` take precedence; changes of the files are applied. */
  configuration?: LoadedConfiguration;
  /** Time limit from the start of the connection to the first tool list. Default: 30 s. */
  connectTimeoutMs?: number;
  /** Time limit of one call. Default: 100,000,000 ms, about 28 hours. */
  callTimeoutMs?: number;
  /** Maximum time without progress in one call. Default: no limit. */
  idleTimeoutMs?: number;
  /** How many servers connect at a time. */
  concurrency?: {
    /** Local processes. Default: 3. */
    local?: number;
    /** Remote servers. Default: 20. */
    remote?: number;
    /** Time after which a connection attempt without a response frees its slot for the next server. Default: 2 s. */
    yieldAfterMs?: number;
  };
  /** Backoff of reconnects. */
  retry?: {
    /** The first delay; each further delay doubles, with jitter. */
    firstMs?: number;
    /** The maximum delay. */
    ceilingMs?: number;
    /** Maximum number of consecutive attempts. Default: unlimited. */
    attempts?: number;
  };
  /** Interval of health checks for an idle server; 0 disables them. */
  heartbeatMs?: number;
  /** Maximum size of a message from a server. Default: 16 MiB. */
  maxFrameBytes?: number;
  /**
   * Directory that stores accepted tool definitions, so that changes are detected after a restart. Default: in memory
   * only.
   */
  pinsDirectory?: string;
  /**
   * What `callTool()` and `pool().call()` do with a tool whose definition changed since it was accepted, or that is new
   * on a known server: `reject` (the default) fails with the code `tool-changed`, `allow` calls the tool.
   * `accept()` accepts the definition.
   */
  changedTools?: 'reject' | 'allow';
  /** Signs in to remote servers that require it. */
  auth?: HostAuthOptions;
  /** Handlers for requests of servers. Requests without a handler are rejected. */
  handlers?: HostHandlers;
  /** The minimum level of `log` events; servers are asked to send no others. Default: what each server sends. */
  logLevel?: LogLevel;
  /** Receives the messages that servers push, through a durable inbox. */
  channels?: HostChannels;
  /**
   * Directory that stores the protocol version and the last tool list of each server. Default: protocol versions only,
   * in `cache` of `TOOLPLANE_HOME` or `~/.toolplane`. `false` keeps both in memory.
   */
  cacheDirectory?: string | false;
  /** Working directory of server processes. */
  cwd?: string;
  /**
   * Environment from which server processes inherit a short list of variables, proxies included. Default: that of
   * the program.
   */
  env?: Readonly<Record<string, string | undefined>>;
  /** Client name and version sent to servers. */
  clientInfo?: { name: string; version: string };
};

/** How a host obtains access tokens. */
export type HostAuthOptions = {
  /**
   * Asks the person to sign in at a URL, for example by opening it in a browser. The host waits for the redirect on a
   * local port; if the redirect cannot get there, return the URL that the browser was redirected to. Without this
   * function, servers that require a sign-in are in the state `needs-auth`.
   */
  onAuthorize?: OnAuthorize;
  /**
   * Stores accounts and tokens; `memory`: for the lifetime of the host. Default: the user's encrypted file, which
   * `toolplane mcp login` uses too.
   */
  store?: AuthStore | 'memory';
  /** The identity provider for servers with `oauth.xaa`. */
  identityProvider?: IdentityProvider;
};

/** Handlers for the requests of servers, by method. */
export type HostHandlers = {
  elicitation?: HostAnswer;
  sampling?: HostAnswer;
  /** The answer to `roots/list`: `file:` URLs, or a function that returns them. */
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

/** A skill and the server that offers it. */
export type HostSkill = ServerSkill & { readonly server: string };

/** A prompt and the server that offers it. */
export type HostPrompt = Prompt & { readonly server: string };

/** Options of `host.callTool()`. */
export type HostCallOptions = {
  signal?: AbortSignal;
  /** Time limit in milliseconds: for the time without progress if `onProgress` is set, otherwise for the whole call. */
  timeoutMs?: number;
  onProgress?: (progress: Progress) => void;
  /** Sent as `_meta` of the request. */
  meta?: Record<string, unknown>;
};

/** The events of a host: `on(listener)`, until the object that it returns is disposed, or `for await`, until the host is closed. */
export type HostEvents = Pick<Broadcast<HostEvent>, 'on' | typeof Symbol.asyncIterator>;

/** An event of a host. */
export type HostEvent =
  | { type: 'state'; server: string; status: ServerStatus }
  | ({ type: 'progress' } & StartProgress)
  | { type: 'tools'; server: string }
  /** A saved change of the configuration was applied: these servers were added, removed or restarted. */
  | { type: 'configured'; added: readonly string[]; removed: readonly string[]; restarted: readonly string[] }
  /** A tool requires acceptance; `text` says why. See `changes()`. */
  | { type: 'changed'; server: string; tool: string; text: string }
  | { type: 'log'; server: string; entry: ServerLog }
  | { type: 'stderr'; server: string; line: string }
  /** A problem that did not stop the operation. */
  | { type: 'warning'; server: string; message: string; subject?: WarningSubject };
