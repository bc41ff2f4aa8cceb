/** A JSON-RPC error that a server returned. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';
  readonly code: number;
  readonly data: unknown;
  /** The key of the server that answered so. */
  readonly server: string;

  constructor(server: string, code: number, message: string, data?: unknown) {
    super(message);
    this.server = server;
    this.code = code;
    this.data = data;
  }
}
