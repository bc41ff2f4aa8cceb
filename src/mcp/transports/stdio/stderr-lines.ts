import { LineRing } from '../../../base/ring.ts';
import type { Secrets } from '../../connection/secrets.ts';
import { ByteLines } from './byte-lines.ts';

const KEPT_LINES = 20;
const WIDTH = 500;
/** Longest line that is handed on whole; of a longer one only the beginning is. */
const LONGEST = 100_000;

/** What a server writes to stderr: each line is handed on without secrets, the last ones are kept. */
export class StderrLines {
  readonly #kept = new LineRing(KEPT_LINES, WIDTH);
  readonly #lines: ByteLines;
  /** The beginning of a line that is too long. */
  #head: Buffer[] = [];
  #headBytes = 0;

  constructor(onLine: (line: string) => void, secrets: Pick<Secrets, 'mask'>) {
    const hear = (text: string, isTooLong = false) => {
      // Before it is cut: half a secret is not known for one.
      const masked = secrets.mask(text);
      const line = isTooLong ? `${masked.slice(0, 2 * WIDTH)}…` : masked;
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
        const piece = Buffer.from(bytes.subarray(0, LONGEST - this.#headBytes));
        this.#headBytes += piece.length;
        if (piece.length > 0) this.#head.push(piece);
      },
      onLongEnd: () => {
        hear(Buffer.concat(this.#head).toString(), true);
        this.#head = [];
        this.#headBytes = 0;
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
