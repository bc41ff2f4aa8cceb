import { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { MAX_SECRET_BYTES } from '../../config/secrets/secret-store.ts';
import { CommandFailed } from '../output/failure.ts';
import { LineEditor, PASTE_OFF, PASTE_ON } from './line-editor.ts';

/** Reads a value from the terminal without echo, or from a pipe; undefined if it was cancelled. */
export async function readValue(
  name: string,
  input: NodeJS.ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  return input.isTTY ? readTyped(name, input, prompt) : readPiped(name, input);
}

/** The line editor edits the line and joins pasted lines; its output is discarded, so nothing is echoed. */
async function readTyped(
  name: string,
  input: ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // The editor turns echo off before the prompt is shown.
  using editor = new LineEditor({ input, output, isInteractive: true, columns: () => 80 }, { stray() {} });
  prompt.write(`Value of ${name} (input is hidden): ${PASTE_ON}`);
  const end = await editor.read('', 'answer');
  prompt.write(`${PASTE_OFF}\n`);
  return end.kind === 'text' ? end.text : undefined;
}

/** The whole input without its trailing newline. */
async function readPiped(name: string, input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of input) {
    chunks.push(bytes as Buffer);
    length += (bytes as Buffer).length;
    // The limit is exceeded; the rest of the input may be endless.
    if (length > 2 * MAX_SECRET_BYTES) break;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    const fault = length > MAX_SECRET_BYTES ? 'it is too long' : 'stdin is not valid UTF-8';
    throw new CommandFailed(`cannot store the value of ${name}: ${fault}`, 'bad-config');
  }
}
