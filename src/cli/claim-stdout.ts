import { Console } from 'node:console';
import { syncBuiltinESMExports } from 'node:module';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Takes stdout for a protocol, where one stray line would break it: whatever others print from now on goes to stderr. */
export function claimStdout(): Writable {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });
  globalThis.console = new Console(stderr, stderr);
  // For `import { stdout } from 'node:process'`.
  syncBuiltinESMExports();
  return stdout;
}

/** Resolves once everything written before is handed over, or never can be. */
export function flushed(stream: Writable): Promise<void> {
  // A stream that was ended takes no more, not even nothing.
  if (stream.writableEnded) return finished(stream, { readable: false }).catch(() => {});
  return new Promise((resolve) => stream.write('', () => resolve()));
}
