import type { ListedTool } from '../protocol/mcp.ts';
import type { ToolChange } from './pin/judge.ts';
import type { Pinned, Pins } from './pin/pins.ts';
import { placeOf } from './pin/place-of.ts';
import type { KnownServer, Server } from './servers/server.ts';

/** A server as those who only use it know it; one that does not say whether its list is verified has no other. */
type Watched = Server & Partial<Pick<KnownServer, 'isVerified'>>;

/** Hears of what a person should know. */
export type PinListener = {
  changed(change: ToolChange): void;
  /** The server under this key is another than before. */
  elsewhere(server: string, message: string): void;
};

/** Compares what servers list with what was accepted, and tells a person of each change once. */
export class PinWatch {
  readonly #pins: Pins;
  readonly #cwd: string | undefined;
  readonly #listener: PinListener;
  readonly #looked = new WeakSet<readonly ListedTool[]>();
  readonly #told = new Set<string>();

  constructor(pins: Pins, cwd: string | undefined, listener: PinListener) {
    this.#pins = pins;
    this.#cwd = cwd;
    this.#listener = listener;
  }

  /** What a connected server lists; a list that was looked at already costs nothing. */
  look(key: string, { entry, state }: Server): void {
    const at = this.#pinned(key, entry);
    if (!at || state.kind !== 'connected' || this.#looked.has(state.tools)) return;
    this.#looked.add(state.tools);
    const { changes, isElsewhere } = this.#pins.observe(at, state.tools);
    // Whoever names another server in the same run knows.
    if (isElsewhere && this.#pins.isLasting) {
      this.#listener.elsewhere(
        key,
        'it is started or reached otherwise than before: its tools are taken as new',
      );
    }
    for (const change of changes) this.#tell(change);
  }

  /** How a tool of a server differs from what was accepted, by what the server lists now. */
  changeOf(key: string, server: Watched, tool: ListedTool): ToolChange | undefined {
    const at = this.#pinned(key, server.entry);
    if (!at) return undefined;
    const { state, isVerified = true } = server;
    this.look(key, server);
    if (state.kind === 'connected') {
      return this.#pins.changeOf(at, state.tools.find(({ name }) => name === tool.name) ?? tool);
    }
    // A list from an earlier life says nothing about the server that will be called.
    return isVerified ? this.#pins.changeOf(at, tool) : undefined;
  }

  /** How somebody who is not in the session accepts a change. */
  remedyOf({ server, tool }: ToolChange): string | undefined {
    if (!this.#pins.isLasting) return undefined;
    const words = [server, tool].map((word) => (/^[\w.-]+$/.test(word) ? word : JSON.stringify(word)));
    return `to accept it: toolplane tools accept ${words.join(' ')}`;
  }

  accept(change: ToolChange): void {
    this.#pins.acceptChange(change);
  }

  #pinned(server: string, entry: Server['entry']): Pinned | undefined {
    const place = placeOf(entry, this.#cwd);
    return place === undefined ? undefined : { server, place };
  }

  #tell(change: ToolChange): void {
    const { server, tool, fingerprints } = change;
    const id = JSON.stringify([server, tool, fingerprints.after]);
    if (this.#told.has(id)) return;
    this.#told.add(id);
    this.#listener.changed(change);
  }
}
