import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { SpawnedProcess } from '../../src/control/process-link.ts';

/** A process controlled by the test, which writes `stdout`, reads `stdin` and decides when it exits. */
export class FakeProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly signals: NodeJS.Signals[] = [];
  killed = false;
  exitCode: number | null = null;
  /** Handles a signal. */
  onSignal: (signal: NodeJS.Signals) => void = () => {};

  kill(signal: NodeJS.Signals): boolean {
    this.signals.push(signal);
    this.onSignal(signal);
    return true;
  }

  exit(code: number | null, signal: NodeJS.Signals | null = null): void {
    this.exitCode = code;
    this.emit('exit', code, signal);
  }
}
