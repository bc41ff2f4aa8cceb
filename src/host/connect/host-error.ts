/** Why a server cannot be reached or used. */
export type HostErrorCode =
  | 'bad-config'
  | 'spawn-failed'
  | 'unreachable'
  | 'unauthorized'
  | 'timeout'
  | 'closed';

/** A failure of a server as its user meets it: one line that names the server and what to do. */
export class HostError extends Error {
  override readonly name: string = 'HostError';
  readonly code: HostErrorCode;
  /** The key of the server concerned. */
  readonly server: string;

  constructor(code: HostErrorCode, server: string, fault: string, options: ErrorOptions = {}) {
    super(`MCP server "${server}": ${fault}`, options);
    this.code = code;
    this.server = server;
  }
}
