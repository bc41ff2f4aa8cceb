import { redactText } from '../../base/redact.ts';
import { LineRing } from '../../base/ring.ts';
import type { ConnectWorld } from '../connection/world.ts';

/** So many lines of a process are kept, each so long at most. */
const LINES = 5;
const LINE_LENGTH = 500;

/** What the process of the last dial said last. */
export class LastLines {
  #ring = new LineRing(LINES, LINE_LENGTH);

  /** The same world, in which this listens too. */
  hearing(world: ConnectWorld): ConnectWorld {
    const onStderr = (server: string, line: string) => {
      this.#ring.push(line);
      world.onStderr?.(server, line);
    };
    return { ...world, onStderr };
  }

  /** Another process begins to speak. */
  clear(): void {
    this.#ring = new LineRing(LINES, LINE_LENGTH);
  }

  /** Without secrets. */
  said(): readonly string[] {
    return this.#ring.lines.map(redactText);
  }
}
