import { StringDecoder } from 'node:string_decoder';
import type { ReadStream } from 'node:tty';
import { MAX_SECRET_BYTES } from '../../config/secrets/secret-store.ts';
import { Failed } from '../host/failure.ts';
import { DO_NOT_MARK_PASTES, MARK_PASTES, NO_LINE, typeHidden } from './hidden-line.ts';

/** The value a person types or a program pipes in; undefined if the person thought better of it. */
export async function readValue(
  name: string,
  input: NodeJS.ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  return input.isTTY ? readTyped(name, input, prompt) : readPiped(name, input);
}

async function readTyped(
  name: string,
  input: ReadStream,
  prompt: NodeJS.WritableStream,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const decoder = new StringDecoder('utf8');
  let line = NO_LINE;
  input.on('data', (bytes: Buffer) => {
    line = typeHidden(line, decoder.write(bytes));
    if (line.end !== undefined) resolve(line.end === 'entered' ? line.text : undefined);
  });
  for (const event of ['end', 'close', 'error']) input.once(event, () => resolve(undefined));
  // Before anybody is asked: what is typed from now on is not shown.
  input.setRawMode(true);
  prompt.write(`Value of ${name} (it is not shown): ${MARK_PASTES}`);
  const value = await promise;
  input.setRawMode(false);
  prompt.write(`${DO_NOT_MARK_PASTES}\n`);
  return value;
}

/** All of it, without the newline at its end. */
async function readPiped(name: string, input: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of input) {
    chunks.push(bytes as Buffer);
    length += (bytes as Buffer).length;
    // Enough to be refused; the rest may never end.
    if (length > 2 * MAX_SECRET_BYTES) break;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    const fault = length > MAX_SECRET_BYTES ? 'it is too long' : 'what came through stdin is no UTF-8 text';
    throw new Failed(`the value of ${name} cannot be kept: ${fault}`, 'bad-config');
  }
}
