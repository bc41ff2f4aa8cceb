import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { isRecord } from '../../../base/json-value.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { jsonFault } from '../../flags/json-flag.ts';

/** The words after the tool's name, with stdin and files read. */
export type Input = {
  /** A JSON object from a word or stdin; the given values are added to it. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly given: readonly Given[];
  readonly faults: readonly string[];
};

/** One argument: `text` (`key=…`) is converted by the tool's schema, `value` (`key:=json`) is used as is. */
export type Given = { readonly key: string } & ({ readonly text: string } | { readonly value: unknown });

/** Parses `{…}`, `-`, `key=value`, `key:=json`, `key=@file` and `key:=@file`. */
export async function readArguments(words: readonly string[], stdin: NodeJS.ReadableStream): Promise<Input> {
  const given: Given[] = [];
  const faults: string[] = [];
  let base: Input['base'] | undefined;
  for (const word of words) {
    try {
      if (word !== '-' && !word.trimStart().startsWith('{')) given.push(await readAssignment(word));
      else if (base)
        throw new Error('only one JSON object or - is allowed; pass further arguments as key=value');
      else base = await readObject(word, stdin);
    } catch (cause) {
      faults.push(messageOf(cause));
    }
  }
  return { base: base ?? {}, given, faults };
}

const ASSIGNMENT = /^(?!:=)(?<key>[^=]+?)(?<json>:)?=(?<file>@)?(?<rest>.*)$/s;

async function readAssignment(word: string): Promise<Given> {
  const { key, json, file, rest = '' } = ASSIGNMENT.exec(word)?.groups ?? {};
  if (key === undefined) {
    throw new Error(`argument ${JSON.stringify(word)} is not key=value, key:=json or a JSON object`);
  }
  const text = file ? await readFileText(key, rest) : rest;
  return json ? { key, value: parseJson(key, text) } : { key, text };
}

async function readFileText(key: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Error(`${key}: cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

async function readObject(word: string, stdin: NodeJS.ReadableStream): Promise<Record<string, unknown>> {
  const source = word === '-' ? 'stdin' : 'the JSON argument';
  const value = parseJson(source, word === '-' ? await textOf(stdin) : word);
  if (!isRecord(value)) throw new Error(`${source} is not a JSON object`);
  return value;
}

function parseJson(source: string, text: string): unknown {
  const fault = jsonFault(text);
  if (fault !== undefined) throw new Error(`${source} is not valid JSON: ${fault}`);
  return JSON.parse(text);
}
