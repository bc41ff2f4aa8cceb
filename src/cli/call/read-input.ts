import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { jsonFault } from '../json-fault.ts';
import type { Given } from './build-arguments.ts';
import { readWords, type Words } from './read-words.ts';

/** The words of a call with what stdin and files have to say; a fault is one that needs no server to be seen. */
export type Input = {
  readonly base: Readonly<Record<string, unknown>>;
  readonly given: readonly Given[];
  readonly faults: readonly string[];
};

/** Reads what the words name. */
export async function readInput(words: readonly string[], stdin: NodeJS.ReadableStream): Promise<Input> {
  const { base, assignments, faults } = readWords(words);
  const found = [...faults];
  const given: Given[] = [];
  for (const { key, form, source, text: value } of assignments) {
    const read = source === 'file' ? await readText(value) : { text: value };
    if ('fault' in read) found.push(`${key}: ${read.fault}`);
    else given.push({ key, form, text: read.text });
  }
  const object = await readBase(base, stdin);
  if ('fault' in object) return { base: {}, given, faults: [...found, object.fault] };
  return { base: object.value, given, faults: found };
}

async function readBase(
  base: Words['base'],
  stdin: NodeJS.ReadableStream,
): Promise<{ readonly value: Input['base'] } | { readonly fault: string }> {
  if (!base) return { value: {} };
  const what = base.source === 'stdin' ? 'what came through stdin' : 'the input';
  const given = base.source === 'stdin' ? await text(stdin) : base.text;
  const fault = jsonFault(given);
  if (fault !== undefined) return { fault: `${what} is no JSON: ${fault}` };
  const value: unknown = JSON.parse(given);
  return isRecord(value) && !Array.isArray(value) ? { value } : { fault: `${what} is no JSON object` };
}

async function readText(path: string): Promise<{ readonly text: string } | { readonly fault: string }> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (cause) {
    return { fault: `${path} cannot be read: ${messageOf(cause)}` };
  }
}
