import type { MissingVariable } from '../transports/stdio/server-environment.ts';

/** Why a server cannot be reached or used: what each code means and what to do. `docs/connections.md` shows this table. */
export const HOST_ERRORS = {
  'bad-config': {
    meaning: 'An entry or option is invalid.',
    remedy: 'Correct the value that the message names; Toolplane retries only after the value has changed.',
  },
  'spawn-failed': {
    meaning: 'The command cannot be started, or exited before it was ready.',
    remedy: 'Read its last output in the message and in `status().stderr`; run the command by hand.',
  },
  unreachable: {
    meaning: 'The server does not respond, or its response is not MCP.',
    remedy: 'Check the URL and that the server is running; Toolplane reconnects automatically.',
  },
  unauthorized: {
    meaning: 'The server requires credentials, or rejected them.',
    remedy:
      'Sign in with `toolplane mcp login`, or set `headers` or `headersHelper` in its entry and call `reconnect()`.',
  },
  timeout: {
    meaning: 'The server did not respond or finish in time.',
    remedy: 'Raise the limit that the message names if the work may take longer.',
  },
  closed: {
    meaning: 'The connection was lost during a request, or the host is closed.',
    remedy:
      'Toolplane reconnects automatically. If a call may have run, check its effect before you repeat it.',
  },
  'session-lost': {
    meaning: 'The session no longer exists on the server, which may have been restarted.',
    remedy:
      'Check the server, then call again; if the message says that the call may have run, check its effect first.',
  },
  'too-large': {
    meaning: 'A message exceeded the maximum size or nesting depth.',
    remedy: 'Return less or flatter data from the tool, or raise `maxFrameBytes`.',
  },
  'unknown-server': {
    meaning: 'The server name is unknown.',
    remedy: 'Use one of the names in the message.',
  },
  'unknown-tool': {
    meaning: 'The tool name is not in the pool.',
    remedy: 'Use a name from the pool, or request a new pool if tools changed.',
  },
  'not-offered': {
    meaning: 'The server does not offer the resource, prompt or completion, or the request was invalid.',
    remedy: 'Use a name or argument that the message lists.',
  },
  excluded: {
    meaning: "The server's entry excludes the tool.",
    remedy: 'Change `includeTools` or `excludeTools` in the entry.',
  },
  'tool-changed': {
    meaning: "The tool's definition changed since it was accepted, or the tool is new on a known server.",
    remedy:
      'Review `changes()`, then call `accept(server, tool)`; `changedTools: "allow"` disables the check.',
  },
  disabled: {
    meaning: 'The server is disabled.',
    remedy: 'Call `toggle(name, true)` to enable it.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

/** The codes of `HostError`. */
export type HostErrorCode = keyof typeof HOST_ERRORS;

/** Details of a failed request. */
export type HostErrorOptions = ErrorOptions & {
  /** The connection failed, not only this request; after three in a row the connection is replaced. */
  isTerminal?: boolean;
  /** Whether the server may have started to process the request. Default: `maybe`. */
  hasRun?: 'no' | 'maybe';
  /** The server's Retry-After, in milliseconds from now. */
  retryAfterMs?: number;
  /** The environment variable that a server process reported missing. */
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

/** Returns why a configured server is not running, without its name; undefined if the server is not configured. */
export type InactiveReason = (server: string) => string | undefined;

/** The error for an unknown name: why a configured server may not start, or which servers exist. */
export function unknownServerError(name: string, known: Iterable<string>, inactive?: string): HostError {
  if (inactive !== undefined) return new HostError('bad-config', name, inactive, { hasRun: 'no' });
  const names = [...known].join(', ');
  const available = names === '' ? '' : `; available: ${names}`;
  return new HostError('unknown-server', name, `unknown server${available}`, { hasRun: 'no' });
}
