/** Why a server cannot be reached or used. */
export type HostErrorCode =
  /** Its entry cannot be used as it is. */
  | 'bad-config'
  /** Its command cannot be run, or ended before it was ready. */
  | 'spawn-failed'
  /** Nobody answers there, or not as an MCP server does. */
  | 'unreachable'
  /** It wants credentials we do not have. */
  | 'unauthorized'
  /** It stayed silent, or was not done in time. */
  | 'timeout'
  /** The connection ended. */
  | 'closed'
  /** It does not know our session any more; a new one is made. */
  | 'session-lost'
  /** One message was longer than is taken. */
  | 'too-large'
  /** Nobody named a server so. */
  | 'unknown-server'
  /** Somebody turned it off. */
  | 'disabled';

/** What is known of a request that failed. */
export type HostErrorOptions = ErrorOptions & {
  /** The connection is at fault, not the one request: three of these in a row and it is made anew. */
  isTerminal?: boolean;
  /** Whether the server may have begun with the request; by default it may have. */
  hasRun?: 'no' | 'maybe';
  /** When the server said it may be asked again, in milliseconds from now. */
  retryAfterMs?: number;
};

/** A failure of a server as its user meets it: one line that names the server and what to do. */
export class HostError extends Error {
  override readonly name: string = 'HostError';
  readonly code: HostErrorCode;
  /** The key of the server concerned. */
  readonly server: string;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
  readonly retryAfterMs: number | undefined;

  constructor(code: HostErrorCode, server: string, fault: string, options: HostErrorOptions = {}) {
    super(`MCP server "${server}": ${fault}`, options);
    this.code = code;
    this.server = server;
    this.isTerminal = options.isTerminal === true;
    this.hasRun = options.hasRun ?? 'maybe';
    this.retryAfterMs = options.retryAfterMs;
  }
}
