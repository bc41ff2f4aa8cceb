import { LineRing } from '../../../base/ring.ts';
import type { Secrets } from '../secrets.ts';
import { ByteLines } from './byte-lines.ts';

const KEPT_LINES = 20;
const WIDTH = 500;
/** Longest line that is handed on whole; of a longer one only the beginning is. */
const LONGEST = 100_000;

/** What a server writes to stderr: each line is handed on without secrets, the last ones are kept. */
export class StderrLines {
  readonly #kept = new LineRing(KEPT_LINES, WIDTH);
  readonly #lines: ByteLines;
  #head: string | undefined;

  constructor(onLine: (line: string) => void, secrets: Pick<Secrets, 'mask'>) {
    const hear = (text: string) => {
      // Before it is cut: half a secret is not known for one.
      const line = secrets.mask(text);
      this.#kept.push(line);
      try {
        onLine(line);
      } catch {
        // What a listener throws is no fault of the server's.
      }
    };
    this.#lines = new ByteLines({
      maxBytes: LONGEST,
      onLine: (text) => {
        const line = text.trimEnd();
        if (line !== '') hear(line);
      },
      onLongPiece: (bytes) => {
        this.#head ??= Buffer.from(bytes.subarray(0, 2 * WIDTH)).toString();
      },
      onLongEnd: () => {
        hear(`${this.#head}…`);
        this.#head = undefined;
      },
    });
  }

  write(chunk: Buffer): void {
    this.#lines.write(chunk);
  }

  /** Keeps something that was said elsewhere, without secrets already. */
  note(line: string): void {
    this.#kept.push(line);
  }

  /** Nothing more comes: a last line may lack its newline. `epitaph` tells how the process ended, where that is news. */
  end(epitaph?: string): void {
    this.#lines.end();
    if (epitaph !== undefined) this.#kept.push(epitaph);
  }

  /** Without secrets. */
  get kept(): readonly string[] {
    return this.#kept.lines;
  }
}
