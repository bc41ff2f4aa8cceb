import type { MissingVariable } from '../transports/stdio/server-environment.ts';

/** Why a server cannot be reached or used: what each code means and what to do. `docs/connections.md` shows this table. */
export const HOST_ERRORS = {
  'bad-config': {
    meaning: 'An entry or an option cannot be used as it is.',
    remedy: 'The message names it and what it accepts; it is not tried again before it is changed.',
  },
  'spawn-failed': {
    meaning: 'The command cannot be run, or ended before it was ready.',
    remedy: 'Read the last lines it wrote, in the message and in `status().stderr`; run the command by hand.',
  },
  unreachable: {
    meaning: 'Nobody answers there, or not as an MCP server does.',
    remedy: 'Check the URL, and that the server runs; it is dialled again by itself.',
  },
  unauthorized: {
    meaning: 'It wants credentials that were not given, or refused them.',
    remedy: 'Set `headers` or `headersHelper` of its entry, then `reconnect()` it.',
  },
  timeout: {
    meaning: 'It stayed silent, or was not done in time.',
    remedy: 'The message names the limit; raise it if the work may take longer.',
  },
  closed: {
    meaning: 'The connection ended while something was asked of it, or the host is closed.',
    remedy: 'Nothing: it is made anew. If a call may have run, see what it did before you call it again.',
  },
  'session-lost': {
    meaning: 'The server does not know our session any more; it was restarted, perhaps.',
    remedy: 'Nothing: a new session is made and the call is sent again.',
  },
  'too-large': {
    meaning: 'One message was longer, or nested deeper, than is taken.',
    remedy: 'Have the tool return less or flatter data, or raise `maxFrameBytes`.',
  },
  'unknown-server': {
    meaning: 'There is no server of that name.',
    remedy: 'Use one of the names in the message.',
  },
  'unknown-tool': {
    meaning: 'There is no tool of that name in the pool.',
    remedy: 'Use a name that the pool lists, or ask for a new pool: tools come and go.',
  },
  'not-offered': {
    meaning: 'The server has no such resource, prompt or completion, or was asked for it wrongly.',
    remedy: 'The message says what it has, or which arguments are missing.',
  },
  excluded: {
    meaning: 'The entry of the server leaves the tool out.',
    remedy: 'Change `includeTools` or `excludeTools` of the entry.',
  },
  'tool-changed': {
    meaning: 'The tool is not what was accepted of it, or is new at a server that was accepted before.',
    remedy:
      'Read `changes()`, then `accept(server, tool)` it; `changedTools: "allow"` calls such tools without asking.',
  },
  disabled: {
    meaning: 'Somebody turned the server off.',
    remedy: '`toggle(name, true)` turns it on.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** The codes of `HostError`. */
export type HostErrorCode = keyof typeof HOST_ERRORS;

/** What is known of a request that failed. */
export type HostErrorOptions = ErrorOptions & {
  /** The connection is at fault, not the one request: three of these in a row and it is made anew. */
  isTerminal?: boolean;
  /** Whether the server may have begun with the request; by default it may have. */
  hasRun?: 'no' | 'maybe';
  /** When the server said it may be asked again, in milliseconds from now. */
  retryAfterMs?: number;
  /** The environment variable that a server process says it misses. */
  missingVariable?: MissingVariable | undefined;
};

/** A failure of a server or of the configuration, with a `code` and the name of the server. */
export class HostError extends Error {
  override readonly name: string = 'HostError';
  readonly code: HostErrorCode;
  /** The key of the server; empty if the error is not about one. */
  readonly server: string;
  /** The message without the name of the server: what failed, why, and what to do. */
  readonly detail: string;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
  readonly retryAfterMs: number | undefined;
  readonly missingVariable: MissingVariable | undefined;

  constructor(code: HostErrorCode, server: string, detail: string, options: HostErrorOptions = {}) {
    super(server === '' ? detail : `MCP server "${server}": ${detail}`, options);
    this.detail = detail;
    this.code = code;
    this.server = server;
    this.isTerminal = options.isTerminal === true;
    this.hasRun = options.hasRun ?? 'maybe';
    this.retryAfterMs = options.retryAfterMs;
    this.missingVariable = options.missingVariable;
  }
}
/** A JSON-RPC error that a server returned. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';
  readonly code: number;
  readonly data: unknown;
  /** The key of the server that returned the error. */
  readonly server: string;

  constructor(server: string, code: number, message: string, data?: unknown) {
    super(message);
    this.server = server;
    this.code = code;
    this.data = data;
  }
}

/** Says why a server is not there though it is configured, without its name; undefined if it is not configured. */
export type WhyAside = (server: string) => string | undefined;

/** There is no such server: the message says why one that is configured may not be started, or else which there are. */
export function unknownServer(name: string, known: Iterable<string>, aside?: string): HostError {
  if (aside !== undefined) return new HostError('bad-config', name, aside, { hasRun: 'no' });
  const names = [...known].join(', ');
  const there = names === '' ? '' : `; there are ${names}`;
  return new HostError('unknown-server', name, `nobody named it${there}`, { hasRun: 'no' });
}
