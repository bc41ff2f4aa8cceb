import { isRecord } from '../base/json-value.ts';
import { nearest } from '../base/text/nearest.ts';
import { redactText } from '../base/text/redact.ts';
import { SdkError } from './sdk-error.ts';
import { mcpToolPrefix } from './tool-name.ts';

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

/** Settings that only Toolplane's host uses; other agents ignore them. */
type HostSettings = {
  /** Connect at first use instead of at start. */
  start?: 'on-demand';
  /** `ready()` rejects if this server is not connected. */
  required?: boolean;
  /** Trust the server's annotations: calls of tools marked read-only or idempotent are repeated after a lost connection. */
  trust?: boolean;
  /** Maximum time from connecting to the first list of tools. */
  connectTimeoutMs?: number;
  /** Maximum time without progress of one call; each progress notification restarts it. */
  idleTimeoutMs?: number;
  /** Hard limits of single tools, by the server's own name for them; they take precedence over `timeout`. */
  toolTimeoutsMs?: Record<string, number>;
  /** Offer only these tools, by the server's own names; `*` matches any characters. By default all are offered. */
  includeTools?: string[];
  /** Never offer or call these tools, named as in `includeTools`; takes precedence over it. */
  excludeTools?: string[];
  /** The protocol era of the server, for servers that fail on the probe; by default the server is probed. */
  era?: 'auto' | 'legacy' | 'modern';
  /** Maximum size of a message from the server; 16 MiB by default. */
  maxFrameBytes?: number;
};

/** Address and credentials of a remote server. */
type Remote = {
  url: string;
  headers?: Record<string, string>;
  /** A command that prints a JSON object of headers; run before a connection is made, and again when it is refused. */
  headersHelper?: string;
  /** PEM texts or paths of PEM files. */
  tls?: { ca?: string; cert?: string; key?: string; serverName?: string };
  tools?: ToolPolicy[];
  oauth?: OAuthEntry;
};

/** How the host obtains access tokens for a remote server. Strings may contain variables. */
export type OAuthEntry = {
  /** The id of a client that is registered at the authorization server. */
  clientId?: string;
  clientSecret?: string;
  /** The port of the redirect URI. Default: a free port. */
  callbackPort?: number;
  /** Scopes, separated by spaces, instead of those that the server asks for. */
  scopes?: string;
  /** The https URL of the authorization server's metadata, for servers that do not name it. */
  authServerMetadataUrl?: string;
  /** The https URL of a client ID metadata document. */
  clientMetadataUrl?: string;
  /** The only issuer that may receive the credentials of the entry; required with a secret, a key or an assertion. */
  issuer?: string;
  /** Obtain tokens without a person. */
  grant?: 'client-credentials' | 'jwt-bearer';
  /** PEM text or path of the key that authenticates the client. */
  privateKey?: string;
  /** The algorithm of `privateKey`. Default: ES256. */
  signingAlgorithm?: string;
  /** A file with the JWT that identifies this workload; it is read for each token request. */
  assertionFile?: string;
  /** Bind tokens to a key of this host. Default: only if the server requires it. */
  dpop?: boolean;
  /** Obtain tokens with the sign-in at the identity provider of the organization. */
  xaa?: boolean;
};

/** A server that runs as a child process and communicates over stdin and stdout. */
export type StdioServerEntry = Common & {
  type?: 'stdio';
  command: string;
  args?: string[];
  env?: Record<string, string>;
  /**
   * Names of additional environment variables that the server inherits from the host. By default it inherits a
   * short list.
   */
  inheritEnv?: string[];
  /**
   * Working directory. Default: that of the host, or a private directory if the entry's scope applies to every
   * project.
   */
  cwd?: string;
};
/** A server that uses the older HTTP+SSE transport. */
export type SseServerEntry = Common & Remote & { type: 'sse' };
/** A Streamable HTTP server. */
export type HttpServerEntry = Common & Remote & { type: 'http' };
/** A WebSocket server. */
export type WsServerEntry = Common & Remote & { type: 'ws' };
/** A remote server without a type: Streamable HTTP is tried first, then HTTP+SSE. */
type UrlServerEntry = Common & Remote & { type?: undefined };
/** A running editor; `url` and `authToken` come from its lock file. Without `url` the lock file is searched for. */
export type IdeServerEntry = Common & {
  type: 'sse-ide' | 'ws-ide';
  url?: string;
  ideName?: string;
  authToken?: string;
};

/** A server that the agent connects to itself. */
export type ExternalServerEntry =
  | StdioServerEntry
  | SseServerEntry
  | HttpServerEntry
  | WsServerEntry
  | UrlServerEntry
  | IdeServerEntry;

/** An error in an entry; `member` is the invalid member, if there is a single one. */
export type EntryError = { readonly member?: string; readonly message: string };

/** The first error in an external entry; undefined if it is valid. */
export function findEntryError(entry: unknown): EntryError | undefined {
  if (isRecord(entry)) return faultOfKind(entry) ?? faultOfMembers(entry);
  return { message: 'the entry must be an object: an sdk server, or a stdio, http, sse or ws entry' };
}

/** The first error in the location of the server. */
function faultOfKind(entry: Record<string, unknown>): EntryError | undefined {
  const { type, url } = entry;
  if (entry.command !== undefined && url !== undefined && (type === undefined || type === 'stdio'))
    return { member: 'url', message: 'the entry has both "command" and "url"; remove one of them' };
  if (type === undefined && entry.command === undefined) {
    if (url === undefined)
      return {
        message: 'a stdio server needs "command", any other server needs "url"; the entry has neither',
      };
    return faultOfUrl('http', url, WEB);
  }
  switch (type ?? 'stdio') {
    case 'stdio':
      return isText(entry.command)
        ? undefined
        : { member: 'command', message: 'a stdio server needs "command", a non-empty string' };
    case 'sse':
    case 'http':
      return faultOfUrl(String(type), url, WEB);
    case 'ws':
      return faultOfUrl('ws', url, SOCKET);
    case 'sse-ide':
    case 'ws-ide':
      return url === undefined ? undefined : faultOfUrl(String(type), url, type === 'ws-ide' ? SOCKET : WEB);
  }
  return { member: 'type', message: unknownType(type) };
}

const WEB = ['http:', 'https:'];
const SOCKET = ['ws:', 'wss:'];

function faultOfUrl(kind: string, url: unknown, schemes: readonly string[]): EntryError | undefined {
  const fault = (message: string) => ({ member: 'url', message });
  if (typeof url !== 'string' || !URL.canParse(url))
    return fault(`${aKind(kind)} server needs "url", a full URL`);
  const { protocol } = new URL(url);
  if (schemes.includes(protocol)) return undefined;
  if (SOCKET.includes(protocol)) return fault(`"url" is a WebSocket URL; set "type" to "ws"`);
  return fault(`the url of ${aKind(kind)} server must start with ${schemes.join('// or ')}//`);
}

/** The type with its article. */
function aKind(kind: string): string {
  return `${kind.startsWith('ws') ? 'a' : 'an'} ${kind}`;
}

function faultOfMembers(entry: Record<string, unknown>): EntryError | undefined {
  for (const [member, [isFine, rule]] of CHECKS) {
    if (entry[member] !== undefined && !isFine(entry[member]))
      return { member, message: `"${member}" ${rule}` };
  }
  return undefined;
}

type Check = readonly [(value: unknown) => boolean, string];

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isVariableName = (value: unknown) => isText(value) && !/[=\0]/.test(String(value));
const isAbove0 = (value: unknown) => typeof value === 'number' && value > 0;
const isMapOf = (isFine: (value: unknown) => boolean) => (value: unknown) =>
  isRecord(value) && !Array.isArray(value) && Object.values(value).every(isFine);
const isString = (value: unknown) => typeof value === 'string';
const oneOf =
  (...known: readonly unknown[]) =>
  (value: unknown) =>
    known.includes(value);

const TEXT: Check = [isText, 'must be a non-empty string'];
const TIME: Check = [isAbove0, 'must be a number of milliseconds above 0'];
const NAMES: Check = [(value) => Array.isArray(value) && value.every(isText), 'must be a list of tool names'];
const FLAG: Check = [oneOf(true, false), 'must be true or false'];

/** Validation of optional members; members that are not listed here are not validated. */
const MEMBERS: Readonly<Record<string, Check>> = {
  args: [(value) => Array.isArray(value) && value.every(isString), 'must be a list of strings'],
  env: [isMapOf(isString), 'must map names to strings'],
  inheritEnv: [
    (value) => Array.isArray(value) && value.every(isVariableName),
    'must be a list of variable names',
  ],
  cwd: TEXT,
  headers: [isMapOf(isString), 'must map names to strings'],
  headersHelper: TEXT,
  tls: [isTls, 'may have ca, cert, key and serverName, each a string; verification cannot be turned off'],
  oauth: [
    isOAuth,
    'must be an object; its members are strings, "callbackPort" is a port number, "dpop" and "xaa" are true or false',
  ],
  ideName: TEXT,
  authToken: TEXT,
  start: [oneOf('on-demand'), 'must be "on-demand" or omitted'],
  required: FLAG,
  trust: FLAG,
  era: [oneOf('auto', 'legacy', 'modern'), 'must be "auto", "legacy" or "modern"'],
  timeout: TIME,
  connectTimeoutMs: TIME,
  idleTimeoutMs: TIME,
  toolTimeoutsMs: [isMapOf(isAbove0), 'must map tool names to milliseconds above 0'],
  includeTools: NAMES,
  excludeTools: NAMES,
  maxFrameBytes: [isAbove0, 'must be a number of bytes above 0'],
};
const CHECKS = Object.entries(MEMBERS);

const KNOWN: readonly string[] = [
  'type',
  'command',
  'url',
  'name',
  'tools',
  'alwaysLoad',
  'instance',
  'assigns',
  ...Object.keys(MEMBERS),
];

const MAX_SUGGESTIONS = 50;

/** Unknown members of an entry, each with the closest known name, so that typos are reported. */
export function unknownMembers(entry: object): { readonly name: string; readonly suggestion?: string }[] {
  const unknown = Object.keys(entry).filter((name) => !KNOWN.includes(name));
  return unknown.map((name, at) => {
    // More unknown members are probably not typos.
    const suggestion =
      at < MAX_SUGGESTIONS ? (nearest(name, KNOWN) ?? nearest(`${name}Ms`, KNOWN)) : undefined;
    return { name, ...(suggestion !== undefined && { suggestion }) };
  });
}

function isTls(value: unknown): boolean {
  const known = oneOf('ca', 'cert', 'key', 'serverName');
  return isMapOf(isText)(value) && Object.keys(value as object).every(known);
}

/** Whether the members of `oauth` are valid. Unknown members are ignored, since other programs write entries too. */
function isOAuth(value: unknown): boolean {
  if (!isRecord(value) || Array.isArray(value)) return false;
  return Object.entries(value).every(([member, it]) => {
    const isFine = Object.hasOwn(OAUTH_MEMBERS, member)
      ? OAUTH_MEMBERS[member as keyof OAuthEntry]
      : undefined;
    return it === undefined || isFine === undefined || isFine(it);
  });
}

const isFlag = oneOf(true, false);
const isPort = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 65536;
const OAUTH_MEMBERS: Readonly<Record<keyof OAuthEntry, (value: unknown) => boolean>> = {
  clientId: isText,
  clientSecret: isText,
  callbackPort: isPort,
  scopes: isString,
  authServerMetadataUrl: isText,
  clientMetadataUrl: isText,
  issuer: isText,
  grant: oneOf('client-credentials', 'jwt-bearer'),
  privateKey: isText,
  signingAlgorithm: isText,
  assertionFile: isText,
  dpop: isFlag,
  xaa: isFlag,
};

/** Checks an entry before its variables are substituted; of an incomplete URL, only the present part is checked. */
export function checkWritten(name: string, raw: unknown): ExternalServerEntry {
  const fault = writtenEntryFault(raw);
  if (fault === undefined) return raw as ExternalServerEntry;
  throw new SdkError('bad-server', `mcpServers["${name}"]: ${fault.message}`, {
    server: name,
    detail: fault.message,
  });
}

/** The first error in an entry whose variables are not substituted yet; undefined if it is valid. */
export function writtenEntryFault(raw: unknown): EntryError | undefined {
  return findEntryError(isRecord(raw) && isOpen(raw.url) ? { ...raw, url: standIn(raw) } : raw);
}

function isOpen(value: unknown): value is string {
  return typeof value === 'string' && value.includes('${');
}

/** A complete placeholder URL. A scheme that is already written is kept, so that a wrong one is reported now. */
function standIn({ type, url }: Readonly<Record<string, unknown>>): string {
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(String(url))?.[0];
  return `${scheme ?? (type === 'ws' || type === 'ws-ide' ? 'ws:' : 'http:')}//placeholder.invalid`;
}

/** Types of servers that the agent connects to. */
const EXTERNAL = ['stdio', 'http', 'sse', 'ws', 'sse-ide', 'ws-ide'];

export function isExternalType(type: unknown): boolean {
  return EXTERNAL.some((it) => it === type);
}

/**
 * The error for an unknown `type`, with a suggestion if other programs use that name for one of the known types. `sdk` is
 * only valid in a program.
 */
export function unknownType(type: unknown, place: 'program' | 'file' = 'program'): string {
  const known = `known are ${[...(place === 'program' ? ['sdk'] : []), ...EXTERNAL].join(', ')}`;
  if (typeof type !== 'string') return `"type" must be a string, but is ${kindOf(type)}; ${known}`;
  const word = type
    .slice(0, MAX_TYPE_LENGTH)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  const hint = Object.hasOwn(TYPE_ALIASES, word) ? `; did you mean "${TYPE_ALIASES[word]}"?` : '';
  return `unknown type${isShown(type) ? ` ${JSON.stringify(type)}` : ''}; ${known}${hint}`;
}

const MAX_TYPE_LENGTH = 40;

/** Long values, control characters and values that look like credentials are not echoed in messages. */
function isShown(type: string): boolean {
  return type.length <= MAX_TYPE_LENGTH && /^[\x20-\x7e]*$/.test(type) && redactText(type) === type;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Names that other programs use for the types. */
const TYPE_ALIASES: Readonly<Record<string, string>> = {
  streamablehttp: 'http',
  httpstream: 'http',
  https: 'http',
  remote: 'http',
  local: 'stdio',
  command: 'stdio',
  websocket: 'ws',
  wss: 'ws',
  httpsse: 'sse',
};

/**
 * Explains where a member of other programs' entries belongs in Toolplane's configuration; undefined for other members.
 */
export function foreignMember(server: string, member: string): string | undefined {
  return Object.hasOwn(FOREIGN_MEMBERS, member) ? FOREIGN_MEMBERS[member]?.(server) : undefined;
}

/** The hints for all such members of an entry, each with its name. */
export function foreignMembers(server: string, entry: object): string[] {
  return Object.keys(entry).flatMap((member) => {
    const hint = foreignMember(server, member);
    return hint === undefined ? [] : [`"${member}" ${hint}`];
  });
}

const rules = (server: string) =>
  `is not supported; allow tools in the settings: "permissions": {"allow": ["${mcpToolPrefix(server)}<tool>"]}`;

const FOREIGN_MEMBERS: Readonly<Record<string, (server: string) => string>> = {
  transport: () => 'is not supported; use "type" with "stdio", "http", "sse" or "ws"',
  httpUrl: () => 'is not supported; use "url" with "type": "http"',
  serverUrl: () => 'is not supported; use "url"',
  autoApprove: rules,
  alwaysAllow: rules,
};
