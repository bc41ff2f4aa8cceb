import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { Queue } from '../base/async/queue.ts';
import { startTimer } from '../base/async/timers.ts';
import { killOnExit } from '../base/process/kill-on-death.ts';
import { type Terminable, terminate } from '../base/process/process-group.ts';
import { LineRing, LineSplitter, LineText, LineWriter } from '../base/text/lines.ts';
import { redactText } from '../base/text/redact.ts';
import { decodeFrame, encodeFrame, type Frame } from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import type { AgentLink } from './link.ts';

export type ProcessLinkOptions = {
  /** Maximum length of a line from the process, in characters. */
  maxLineLength: number;
  /** Time for each step of the termination: stdin end, SIGTERM, SIGKILL. */
  graceMs: number;
  /** Settles when stderr has been read to its end, so that an exit error can include its last lines. */
  stderrEnded?: Promise<void>;
  /** Receives lines on stdout that are not frames. */
  onNoise?: (line: string) => void;
  /** Called before the first signal is sent, for custom spawners. */
  onForce?: () => void;
};

/** How long the pipes of an exited process may be silent before the link ends. */
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

  /** Keeps a line of the process's stderr for the message of an exit error. */
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
      // A broken stdin is usually the first sign of an exit, whose error says more.
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
    const target: Terminable = {
      endInput: () => this.end(),
      signal: (signal) => {
        const isFirst = !this.#isForced;
        this.#isForced = true;
        if (isFirst) this.#options.onForce?.();
        this.#kill(signal);
      },
      isGone: (withinMs) => this.#exitsWithin(withinMs),
    };
    const { graceMs } = this.#options;
    if (!(await terminate(target, { signals: ['SIGTERM', 'SIGKILL'], graceMs }))) this.frames.end();
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
      // A signal that could not be sent, or our own abort signal in a custom spawner: the termination continues.
      this.noteStderr(`[toolplane] ${cause.message}`);
    } else {
      this.#fail(new SdkError('process-exited', `The agent's process failed: ${cause.message}`, { cause }));
      void this.close();
    }
  }

  /** A process that failed to start has no id and no output, and fails before any signal is sent. */
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
            `The agent sent a line of ${length} characters, more than maxLineLength (${this.#options.maxLineLength}); raise it, or return less data from the tool`,
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
    else this.#fail(new ProcessExitError(code, signal, this.#stderr.lines.map(redactText)));
    this.#over.resolve();
  }

  /** Waits until all output is delivered. A grandchild may hold stdout open, so a silent stdout is not waited for. */
  async #drained(): Promise<void> {
    const ended = Promise.all([this.#outEnded.promise, this.#options.stderrEnded]).then(() => 'ended');
    for (let seen = -1; seen !== this.#chunks; ) {
      seen = this.#chunks;
      // After a blocked event loop, timers run before pending input: one more turn reads that input.
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

/** The process exited on its own with a code other than 0, or by a signal. */
export class ProcessExitError extends SdkError {
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

export type SpawnAgentOptions = Pick<ProcessLinkOptions, 'maxLineLength' | 'onNoise'> & {
  graceMs?: number;
  /** Receives the stderr output of the agent. Must not throw. */
  onStderr?: ((text: string) => void) | undefined;
  spawn?: ((request: SpawnRequest) => SpawnedProcess) | undefined;
};

/** Starts an agent CLI and links to it. The agent ends with this process: by the end of its stdin if this process is killed, by a signal if it exits. */
export function spawnAgent(request: Omit<SpawnRequest, 'signal'>, options: SpawnAgentOptions): ProcessLink {
  const forced = new AbortController();
  const stderrEnded = Promise.withResolvers<void>();
  const start = () =>
    options.spawn
      ? options.spawn({ ...request, signal: forced.signal })
      : spawnLocal(request, {
          onLine: (line) => link.noteStderr(line),
          onText: options.onStderr,
          onEnd: stderrEnded.resolve,
        });
  const child = launch(start);
  if (options.spawn) stderrEnded.resolve();
  const link = new ProcessLink(child, {
    maxLineLength: options.maxLineLength,
    graceMs: options.graceMs ?? 5_000,
    stderrEnded: stderrEnded.promise,
    onForce: () => forced.abort(),
    ...(options.onNoise && { onNoise: options.onNoise }),
  });
  void link.gone.then(killOnExit(() => child.kill('SIGTERM')));
  return link;
}

/** Some errors of `spawn` are thrown (arguments that are too long), others are events (a missing file). */
function launch(start: () => SpawnedProcess): SpawnedProcess {
  try {
    return start();
  } catch (cause) {
    if (cause instanceof SdkError) throw cause;
    throw new SdkError('spawn-failed', `The agent could not be started: ${messageOf(cause)}`, { cause });
  }
}

function spawnLocal(
  request: Omit<SpawnRequest, 'signal'>,
  stderr: { onLine(line: string): void; onText?: ((text: string) => void) | undefined; onEnd(): void },
): SpawnedProcess {
  if (request.cwd !== undefined && !existsSync(request.cwd)) {
    throw new SdkError(
      'spawn-failed',
      `The agent cannot be started: cwd ${request.cwd} does not exist; create the directory, or set another cwd`,
    );
  }
  const child = spawn(request.command, request.args, {
    cwd: request.cwd,
    env: request.env as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const splitter = new LineSplitter({ maxLength: 64 * 1024, onLine: stderr.onLine, onTooLong: () => {} });
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    splitter.write(text);
    stderr.onText?.(text);
  });
  child.stderr.on('close', () => {
    splitter.end();
    stderr.onEnd();
  });
  return child;
}

/** The part of `ChildProcess` that a link needs; a custom spawner may return any object of this shape. */
export interface SpawnedProcess {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  readonly signalCode?: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
  off(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  off(event: 'error', listener: (error: Error) => void): void;
}

/** The argument of a custom spawner. */
export type SpawnRequest = {
  command: string;
  args: string[];
  cwd?: string | undefined;
  env: { [name: string]: string | undefined };
  /** Aborts when the agent has not ended within the grace period after the end of its stdin. */
  signal: AbortSignal;
};

/** A link over a pair of streams, one frame a line: the agent's end of its own stdin and stdout. */
export function streamLink(
  streams: { readonly input: Readable; readonly output: Writable },
  options: { readonly maxLineLength: number; readonly onNoise?: (line: string) => void },
): AgentLink {
  const frames = new Queue<Frame>();
  const writer = new LineWriter(streams.output);
  const splitter = new LineSplitter({
    maxLength: options.maxLineLength,
    onLine: (line) => {
      const frame = decodeFrame(line);
      if (frame) frames.push(frame);
      else options.onNoise?.(line);
    },
    onTooLong: (length) => {
      const max = options.maxLineLength;
      frames.fail(
        new SdkError(
          'line-too-long',
          `Received a line of ${length} characters; the maximum is ${max}: send smaller messages`,
        ),
      );
    },
  });
  streams.input.setEncoding('utf8');
  streams.input.on('data', (chunk: string) => splitter.write(chunk));
  streams.input.once('end', () => {
    splitter.end();
    frames.end();
  });
  streams.input.once('close', () => frames.end());
  streams.input.once('error', (cause) => frames.fail(cause));
  return {
    frames,
    send: (frame) => writer.write(encodeFrame(frame)),
    post: (frame) => writer.post(encodeFrame(frame)),
    room: () => writer.room,
    end: () => writer.end(),
    async close() {
      writer.end();
      frames.end();
    },
  };
}
