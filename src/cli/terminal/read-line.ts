import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ReadEnd } from './line-editor.ts';
import { sanitize } from './sanitize.ts';

/** Reads one line of a terminal in line mode: Ctrl-C ends the process as usual, and keys are echoed by the terminal. */
export async function readLine(
  prompt: string,
  { input, output }: { readonly input: Readable; readonly output: Writable },
  signal?: AbortSignal,
): Promise<Exclude<ReadEnd, { kind: 'interrupted' }>> {
  output.write(sanitize(prompt));
  const lines = createInterface({ input, terminal: false });
  const close = () => lines.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    for await (const text of lines) return { kind: 'text', text };
    return { kind: signal?.aborted ? 'withdrawn' : 'ended' };
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}
