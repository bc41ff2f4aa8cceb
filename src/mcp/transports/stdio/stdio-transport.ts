import type { Readable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { startTimer } from '../../../base/async/timers.ts';
import { LineRing } from '../../../base/text/lines.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import type { SecretMask } from '../../connection/secret-mask.ts';
import { InputWriter, inputError, notConnected } from './input-writer.ts';
import { ByteLines, messageLines } from './message-lines.ts';

import {
  type Command,
  endProcess,
  type PipedChild,
  type Processes,
  type ServerProcess,
} from './server-process.ts';

/** How long buffered output is read after the process has exited; another process may hold the pipes open. */
const DRAIN_MS = 100;

type StdioTransportOptions = {
  readonly command: Command;
  readonly processes: Processes;
  readonly maxFrameBytes: number;
  /** Masked in all output. */
  readonly secrets: Pick<SecretMask, 'mask'>;
  onStderr(line: string): void;
  /** With `fault`, `what` describes an invalid message; without it, `what` is output that is not a message. */
  onUnexpectedOutput(what: string, kind?: 'fault'): void;
};

/**
 * Runs a server process as a transport, with one JSON-RPC message per line. The members `pid` and `stderr` tell the
 * official client that it may probe the protocol era in place.
 */
export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #options: StdioTransportOptions;
  readonly #stderr: StderrLines;
  /** All three streams and the process have ended. */
  readonly #drained = Promise.withResolvers<void>();
  #starting: Promise<ServerProcess> | undefined;
  #child: PipedChild | undefined;
  #writer: InputWriter | undefined;
  #ending: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#stderr = new StderrLines(options.onStderr, options.secrets);
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Already consumed here, so that the pipe never fills up. */
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null;
  }

  /** Adds a line to the last stderr lines. */
  note(line: string): void {
    this.#stderr.note(line);
  }

  /** The last stderr lines with secrets masked, and how the process exited unless it was closed by the host. */
  get lastLines(): readonly string[] {
    return this.#stderr.kept;
  }

  async start(): Promise<void> {
    if (this.#starting !== undefined || this.#ending !== undefined)
      throw new Error('the transport has already been started');
    const { processes, command } = this.#options;
    this.#starting = processes.start(command);
    const process = await this.#starting;
    this.#child = process.child;
    this.#writer = new InputWriter(process.child.stdin);
    this.#listen(process);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!this.#writer || this.#ending !== undefined) return Promise.reject(notConnected());
    try {
      return this.#writer.write(JSON.stringify(message));
    } catch (unwritable) {
      return Promise.reject(unwritable);
    }
  }

  /** Resolves when the server and its descendants have ended. Never rejects. */
  close(): Promise<void> {
    this.#ending ??= this.#endOnClose();
    return this.#ending;
  }

  #listen(process: ServerProcess): void {
    const { child } = process;
    const lost = () => {
      this.#ending ??= this.#endLost(process);
    };
    const lines = messageLines({
      maxBytes: this.#options.maxFrameBytes,
      onMessage: (message) => this.#deliver(message),
      onReply: (reply) => void this.send(reply as JSONRPCMessage).catch(() => {}),
      onUnexpectedOutput: this.#options.onUnexpectedOutput,
    });
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        lines.write(chunk);
      } catch (thrown) {
        this.#misread(thrown);
      }
    });
    child.stdout.once('end', () => {
      try {
        lines.end();
      } catch (thrown) {
        this.#misread(thrown);
      }
      lost();
    });
    child.stderr.on('data', (chunk: Buffer) => this.#stderr.write(chunk));
    child.stdin.on('error', (error) => {
      // Write errors during shutdown are expected.
      if (this.#ending === undefined) this.onerror?.(inputError(error));
      lost();
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('error', lost);
    child.once('exit', lost);
    child.once('close', () => this.#drained.resolve());
  }

  /** Output of a server must never crash the host. */
  #misread(thrown: unknown): void {
    this.#options.onUnexpectedOutput(`unreadable output: ${messageOf(thrown)}`, 'fault');
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#isClosed) return;
    try {
      this.onmessage?.(message);
    } catch (thrown) {
      this.onerror?.(thrown as Error);
    }
  }

  async #endOnClose(): Promise<void> {
    const process = await this.#starting?.catch(() => undefined);
    // If the process never started, there is nothing to end.
    if (!process) return;
    this.#writer?.end();
    await endProcess(process);
    await this.#drain();
    this.#stderr.end();
    letGo(process.child);
    this.#emitClose();
  }

  /** The process exited by itself, or its pipes broke. */
  async #endLost(process: ServerProcess): Promise<void> {
    await this.#drain();
    this.#stderr.end(describeExit(process.child));
    this.#emitClose();
    this.#writer?.end();
    await endProcess(process);
    letGo(process.child);
  }

  async #drain(): Promise<void> {
    const timer = startTimer(DRAIN_MS, () => setImmediate(this.#drained.resolve));
    await this.#drained.promise;
    clearTimeout(timer);
  }

  #emitClose(): void {
    this.#isClosed = true;
    try {
      this.onclose?.();
    } catch (thrown) {
      this.onerror?.(thrown as Error);
    }
  }
}

function describeExit({ exitCode, signalCode }: PipedChild): string {
  if (signalCode !== null) return `(ended by ${signalCode})`;
  return exitCode === null ? '(the process closed its stdin or stdout)' : `(exited with code ${exitCode})`;
}

/** A child that left the process group may still hold the pipes open. */
function letGo(child: PipedChild): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
}

const KEPT_LINES = 20;
const WIDTH = 500;
/** Maximum length of a line that is passed on whole; longer ones are truncated. */
const MAX_LINE_BYTES = 100_000;

/** The stderr of a server: passes on each line with secrets masked and keeps the last ones. */
export class StderrLines {
  readonly #kept = new LineRing(KEPT_LINES, WIDTH);
  readonly #lines: ByteLines;
  /** The beginning of a line that is too long. */
  #head: Buffer[] = [];
  #headBytes = 0;

  constructor(onLine: (line: string) => void, secrets: Pick<SecretMask, 'mask'>) {
    const emit = (text: string, isTooLong = false) => {
      // Masked before truncating, since half a secret would not be recognized.
      const masked = secrets.mask(text);
      const line = isTooLong ? `${masked.slice(0, 2 * WIDTH)}…` : masked;
      this.#kept.push(line);
      try {
        onLine(line);
      } catch {
        // An error of the listener is not an error of the server.
      }
    };
    this.#lines = new ByteLines({
      maxBytes: MAX_LINE_BYTES,
      onLine: (text) => {
        const line = text.trimEnd();
        if (line !== '') emit(line);
      },
      onLongPiece: (bytes) => {
        const piece = Buffer.from(bytes.subarray(0, MAX_LINE_BYTES - this.#headBytes));
        this.#headBytes += piece.length;
        if (piece.length > 0) this.#head.push(piece);
      },
      onLongEnd: () => {
        emit(Buffer.concat(this.#head).toString(), true);
        this.#head = [];
        this.#headBytes = 0;
      },
    });
  }

  write(chunk: Buffer): void {
    this.#lines.write(chunk);
  }

  /** Adds a line that is already masked. */
  note(line: string): void {
    this.#kept.push(line);
  }

  /** Ends the output; the last line may lack its newline. `epitaph` describes how the process exited, if that is of interest. */
  end(epitaph?: string): void {
    this.#lines.end();
    if (epitaph !== undefined) this.#kept.push(epitaph);
  }

  /** With secrets masked. */
  get kept(): readonly string[] {
    return this.#kept.lines;
  }
}
