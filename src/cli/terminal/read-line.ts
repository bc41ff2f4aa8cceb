import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { sanitize } from './terminal-text.ts';

/** How a read ended: a text, Ctrl-C, the end of the input, or its own signal. */
export type ReadEnd =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'withdrawn' };

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
