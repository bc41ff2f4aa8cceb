import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between client and server; its connections can freeze without being closed, as when a cable is pulled. */
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

  /** Every connection there is carries nothing from now on, not even its own end. New ones work. */
  freeze(): void {
    for (const socket of this.#sockets) this.#frozen.add(socket);
  }

  /** As `freeze`, and new ones are taken but carry nothing either. */
  pull(): void {
    this.#isPulled = true;
    this.freeze();
  }

  /** New connections work again; those that were there stay dead. */
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
