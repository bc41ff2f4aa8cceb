import { isRecord } from '../base/is-record.ts';
import { SdkError } from './sdk-error.ts';

/** A permission policy for one tool of a server, enforced by the agent. */
export type ToolPolicy = {
  name: string;
  permission_policy?: 'always_allow' | 'always_ask' | 'always_deny';
  org_max_permission?: 'allow' | 'ask' | 'blocked';
};

type Common = {
  /** Hard limit of one tool call in milliseconds, enforced by the agent; below 1000 it is ignored there. */
  timeout?: number;
  alwaysLoad?: boolean;
} & HostSettings;

/** What only Toolplane's own host understands; other agents read past it. */
type HostSettings = {
  /** Dialled only once somebody asks for it. */
  start?: 'on-demand';
  /** `ready()` fails without it. */
  required?: boolean;
  /** What it says of its tools is believed: those it calls read-only or idempotent are repeated after a lost connection. */
  trust?: boolean;
  /** Longest time from dialling to the first list of tools. */
  connectTimeoutMs?: number;
  /** Longest time one call may stay silent; progress begins it anew. */
  idleTimeoutMs?: number;
  /** Hard limits of single tools, by the server's own name for them; they beat `timeout`. */
  toolTimeoutsMs?: Record<string, number>;
  /** Which protocol it speaks, where asking it does harm; by default it is asked. */
  era?: 'auto' | 'legacy' | 'modern';
  /** Longest message taken from it; by default 16 MiB. */
  maxFrameBytes?: number;
};

/** How a server on the network is reached and told who we are. */
type Remote = {
  url: string;
  headers?: Record<string, string>;
  /** A command that prints a JSON object of headers; run before a connection is made, and again when it is refused. */
  headersHelper?: string;
  /** PEM texts or paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string; serverName?: string };
  tools?: ToolPolicy[];
};

export type StdioServerEntry = Common & {
  type?: 'stdio';
  command: string;
  args?: string[];
  env?: Record<string, string>;
  /** Where it runs; by default where the host does. */
  cwd?: string;
};
export type SseServerEntry = Common & Remote & { type: 'sse' };
export type HttpServerEntry = Common & Remote & { type: 'http' };
export type WsServerEntry = Common & Remote & { type: 'ws' };
/** Streamable HTTP if it is spoken there, else the older HTTP with server-sent events. */
export type UrlServerEntry = Common & Remote & { type?: undefined };
/** A running editor; `url` and `authToken` are what its lock file says. Without `url` the lock file is looked for. */
export type IdeServerEntry = Common & {
  type: 'sse-ide' | 'ws-ide';
  url?: string;
  ideName?: string;
  authToken?: string;
};

/** A server the agent dials by itself. */
export type ExternalServerEntry =
  | StdioServerEntry
  | SseServerEntry
  | HttpServerEntry
  | WsServerEntry
  | UrlServerEntry
  | IdeServerEntry;

/** Checks one external entry and returns it as it was given: the agent reads the rest (R31). */
export function checkExternalEntry(key: string, entry: unknown): ExternalServerEntry {
  const refuse = (fault: string): never => {
    throw new SdkError('bad-server', `mcpServers["${key}"]: ${fault}`, { server: key });
  };
  if (!isRecord(entry))
    return refuse('it must be an object: an sdk server, or a stdio, http, sse or ws entry');
  const type = entry.type ?? 'stdio';
  if (type === 'stdio') {
    if (typeof entry.command !== 'string' || entry.command === '') {
      return refuse('a stdio server needs "command", a non-empty string');
    }
    if (entry.args !== undefined && !isStringList(entry.args))
      return refuse('"args" must be a list of strings');
    if (entry.env !== undefined && !isStringMap(entry.env)) return refuse('"env" must map names to strings');
  } else if (type === 'sse' || type === 'http' || type === 'ws') {
    const schemes = type === 'ws' ? ['ws:', 'wss:'] : ['http:', 'https:'];
    if (typeof entry.url !== 'string' || !URL.canParse(entry.url))
      return refuse(`a ${type} server needs "url", a full URL`);
    if (!schemes.includes(new URL(entry.url).protocol)) {
      return refuse(`the url of a ${type} server starts with ${schemes.join('// or ')}//`);
    }
    if (entry.headers !== undefined && !isStringMap(entry.headers))
      return refuse('"headers" must map names to strings');
  } else {
    return refuse(`unknown type ${JSON.stringify(type)}; known are sdk, stdio, http, sse, ws`);
  }
  if (entry.timeout !== undefined && !(typeof entry.timeout === 'number' && entry.timeout > 0)) {
    return refuse('"timeout" is a number of milliseconds above 0');
  }
  return entry as ExternalServerEntry;
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isStringMap(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
}
