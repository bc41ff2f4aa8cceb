import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy between client and server whose connections can freeze without being closed, like a pulled cable. */
export class Cable implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #frozen = new WeakSet<Socket>();
  #isPulled = false;

  private constructor(to: number) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect(to, '127.0.0.1');
      this.#join(near, far);
      this.#join(far, near);
    });
  }

  static async open(to: number): Promise<Cable> {
    const cable = new Cable(to);
    await new Promise<void>((resolve) => cable.#server.listen(0, '127.0.0.1', resolve));
    return cable;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Existing connections carry nothing from now on, not even their end. New ones work. */
  freeze(): void {
    for (const socket of this.#sockets) this.#frozen.add(socket);
  }

  /** Like `freeze`; new connections are accepted but carry nothing either. */
  pull(): void {
    this.#isPulled = true;
    this.freeze();
  }

  /** New connections work again; existing ones stay dead. */
  plugIn(): void {
    this.#isPulled = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    if (this.#isPulled) this.#frozen.add(from);
    from.on('error', () => {});
    from.on('data', (chunk) => this.#frozen.has(from) || to.write(chunk));
    from.on('end', () => this.#frozen.has(from) || to.end());
    from.on('close', () => {
      this.#sockets.delete(from);
      if (!this.#frozen.has(from)) to.destroy();
    });
  }
}
