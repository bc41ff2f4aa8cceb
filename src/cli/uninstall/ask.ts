import { createInterface } from 'node:readline';

/**
 * Asks once; only a clear yes is one. The terminal stays as it is, so Ctrl-C ends the process as it would any other,
 * before anything was done.
 */
export async function isConfirmed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  output.write(question);
  const lines = createInterface({ input, terminal: false });
  for await (const line of lines) {
    lines.close();
    return /^\s*y(es)?\s*$/i.test(line);
  }
  output.write('\n');
  return false;
}
