import { LineText } from '../base/line-text.ts';
import { LineWriter } from '../base/line-writer.ts';
import { LineSplitter } from '../base/lines.ts';
import { Queue } from '../base/queue.ts';
import { redactText } from '../base/redact.ts';
import { LineRing } from '../base/ring.ts';
import { startTimer } from '../base/timer.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { decodeFrame, encodeFrame } from './frame-codec.ts';
import type { AgentLink } from './link.ts';
import type { SpawnedProcess } from './spawned-process.ts';

export type ProcessLinkOptions = {
  /** Longest line in characters the process may send. */
  maxLineLength: number;
  /** How long each step of the ending may take: stdin end, SIGTERM, SIGKILL. */
  graceMs: number;
  /** Settles when stderr is read to its end, so that a death can be told with its last words. */
  stderrEnded?: Promise<void>;
  /** Lines on stdout that are no frames. */
  onNoise?: (line: string) => void;
  /** Aborted when the gentle ending did not help, for custom spawners. */
  onForce?: () => void;
};

/** How long a dead process's pipes may be silent before its end is believed. */
const QUIET_MS = 500;

/** A link to an agent CLI that speaks the protocol on its stdin and stdout. */
export class ProcessLink implements AgentLink {
  readonly frames = new Queue<Frame>();
  /** Resolves when the process has exited, or could not be started. */
  readonly gone: Promise<void>;
  readonly #process: SpawnedProcess;
  readonly #options: ProcessLinkOptions;
  readonly #writer: LineWriter;
  readonly #stderr = new LineRing(20, 2_000);
  readonly #exited = Promise.withResolvers<void>();
  readonly #outEnded = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();
  #chunks = 0;
  #isEnded = false;
  #isForced = false;
  #failure: SdkError | undefined;
  #closing: Promise<void> | undefined;
  #exit: { code: number | null; signal: string | null } | undefined;

  constructor(process: SpawnedProcess, options: ProcessLinkOptions) {
    this.#process = process;
    this.#options = options;
    this.#writer = new LineWriter(process.stdin);
    this.gone = this.#exited.promise;
    this.#readOutput();
    process.on('error', (cause) => this.#onError(cause));
    process.on('exit', (code, signal) => {
      this.#exit = { code, signal };
      this.#exited.resolve();
      void this.#finish();
    });
    if (process.exitCode !== null) {
      this.#exit = { code: process.exitCode, signal: null };
      this.#exited.resolve();
      void this.#finish();
    }
  }

  /** One line of the process's stderr, kept for the message if it dies. */
  noteStderr(line: string): void {
    this.#stderr.push(line);
  }

  send(frame: Frame): Promise<void> {
    const sent = this.#send(encodeFrame(frame));
    sent.catch(() => {});
    return sent;
  }

  post(frame: Frame): void {
    this.#writer.post(encodeFrame(frame));
  }

  room(): Promise<void> | undefined {
    return this.#writer.room;
  }

  async #send(line: string): Promise<void> {
    try {
      await this.#writer.write(line);
    } catch (cause) {
      if (this.#isEnded) throw cause;
      // Input that breaks is mostly the first sign of a death, whose own words say more.
      await Promise.race([this.#over.promise, quiet()]);
      throw this.#failure ?? cause;
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#writer.end();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.end();
    if (await this.#exitsWithin(this.#options.graceMs)) return;
    this.#isForced = true;
    this.#options.onForce?.();
    this.#kill('SIGTERM');
    if (await this.#exitsWithin(this.#options.graceMs)) return;
    this.#kill('SIGKILL');
    if (!(await this.#exitsWithin(this.#options.graceMs))) this.frames.end();
  }

  #kill(signal: NodeJS.Signals): void {
    try {
      this.#process.kill(signal);
    } catch (cause) {
      this.noteStderr(`[toolplane] ${signal}: ${messageOf(cause)}`);
    }
  }

  #onError(cause: Error): void {
    if (!this.#isStarted()) {
      this.#fail(new SdkError('spawn-failed', `The agent could not be started: ${cause.message}`, { cause }));
      this.#exited.resolve();
      this.#outEnded.resolve();
    } else if (this.#closing || this.#exit) {
      // A signal that could not be sent, or our own abort told to a custom spawner: the ending goes on.
      this.noteStderr(`[toolplane] ${cause.message}`);
    } else {
      this.#fail(new SdkError('process-exited', `The agent's process failed: ${cause.message}`, { cause }));
      void this.close();
    }
  }

  /** One that was never started has no id and says nothing; it fails at once, before any signal is due. */
  #isStarted(): boolean {
    const { pid } = this.#process as { pid?: unknown };
    return pid !== undefined || this.#chunks > 0 || this.#isForced || this.#exit !== undefined;
  }

  #readOutput(): void {
    const splitter = new LineSplitter({
      maxLength: this.#options.maxLineLength,
      keepsEnds: true,
      onLine: (line) => {
        const frame = decodeFrame(line);
        if (frame) this.frames.push(frame);
        else this.#options.onNoise?.(line.trimEnd());
      },
      onTooLong: (length) => {
        this.#fail(
          new SdkError(
            'line-too-long',
            `The agent sent a line of ${length} characters; maxLineLength is ${this.#options.maxLineLength}`,
          ),
        );
        void this.close();
      },
    });
    const { stdout } = this.#process;
    const text = new LineText();
    stdout.on('data', (chunk: Buffer | string) => {
      this.#chunks++;
      splitter.write(text.write(chunk));
    });
    stdout.once('end', () => {
      splitter.write(text.end());
      splitter.end();
      this.#outEnded.resolve();
    });
    stdout.once('close', () => this.#outEnded.resolve());
    stdout.once('error', () => this.#outEnded.resolve());
  }

  async #finish(): Promise<void> {
    await this.#drained();
    const { code, signal } = this.#exit ?? { code: null, signal: null };
    if (this.#failure) return;
    if (code === 0 || this.#closing !== undefined) this.frames.end();
    else this.#fail(new ExitFault(code, signal, this.#stderr.lines.map(redactText)));
    this.#over.resolve();
  }

  /** Everything it wrote is delivered before its end is. A grandchild may hold stdout open: once it is silent it is not waited for. */
  async #drained(): Promise<void> {
    const ended = Promise.all([this.#outEnded.promise, this.#options.stderrEnded]).then(() => 'ended');
    for (let seen = -1; seen !== this.#chunks; ) {
      seen = this.#chunks;
      // After a blocked event loop timers come before input: one more turn lets waiting input in.
      if ((await Promise.race([ended, quiet().then(turn)])) === 'ended') return;
    }
  }

  #fail(failure: SdkError): void {
    this.#failure ??= failure;
    this.frames.fail(this.#failure);
    this.#over.resolve();
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const late = Promise.withResolvers<'late'>();
    const timer = startTimer(ms, () => late.resolve('late')).unref();
    const first = await Promise.race([this.#exited.promise, late.promise]);
    clearTimeout(timer);
    return first !== 'late';
  }
}

/** The process ended by itself with a code other than 0, or by a signal. */
export class ExitFault extends SdkError {
  readonly exitCode: number | null;

  constructor(exitCode: number | null, signal: string | null, stderr: readonly string[]) {
    const how = signal ? `terminated by signal ${signal}` : `exited with code ${exitCode}`;
    super(
      'process-exited',
      `Claude Code process ${how}${stderr.length > 0 ? `. stderr: ${stderr.join('\n')}` : ''}`,
    );
    this.exitCode = exitCode;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function quiet(): Promise<void> {
  return new Promise((resolve) => startTimer(QUIET_MS, resolve).unref());
}
