/** A JSON-RPC error a server answered with: its own words, for whoever asked. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
