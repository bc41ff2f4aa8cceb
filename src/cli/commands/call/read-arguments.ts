import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isRecord } from '../../../base/json-value.ts';
import { messageOf } from '../../../protocol/sdk-error.ts';
import { jsonFault } from '../../flags/json-flag.ts';
import type { Given } from './convert-arguments.ts';

/** The parsed words of a call, with stdin and files read. */
export type Input = {
  readonly base: Readonly<Record<string, unknown>>;
  readonly given: readonly Given[];
  readonly faults: readonly string[];
};

/** Parses the words, and reads stdin and files. */
export async function readInput(words: readonly string[], stdin: NodeJS.ReadableStream): Promise<Input> {
  const { base, assignments, faults } = parseWords(words);
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
  base: ParsedWords['base'],
  stdin: NodeJS.ReadableStream,
): Promise<{ readonly value: Input['base'] } | { readonly fault: string }> {
  if (!base) return { value: {} };
  const what = base.source === 'stdin' ? 'stdin' : 'the input';
  const given = base.source === 'stdin' ? await text(stdin) : base.text;
  const fault = jsonFault(given);
  if (fault !== undefined) return { fault: `${what} is not valid JSON: ${fault}` };
  const value: unknown = JSON.parse(given);
  return isRecord(value) ? { value } : { fault: `${what} is not a JSON object` };
}

async function readText(path: string): Promise<{ readonly text: string } | { readonly fault: string }> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (cause) {
    return { fault: `cannot read ${path}: ${messageOf(cause)}` };
  }
}
/** One `key=value` of a command line. */
type Assignment = {
  readonly key: string;
  /** `json` for `key:=…`, used as is; `text` is converted by the schema. */
  readonly form: 'text' | 'json';
  /** `file` for `key=@…`: the text is its path. */
  readonly source: 'word' | 'file';
  readonly text: string;
};

/** The words after the tool's name. */
type ParsedWords = {
  /** A JSON object, or stdin; assignments are added to it. */
  readonly base?: { readonly source: 'word'; readonly text: string } | { readonly source: 'stdin' };
  readonly assignments: readonly Assignment[];
  readonly faults: readonly string[];
};

/** Parses `{…}`, `-`, `key=value`, `key:=json`, `key=@file` and `key:=@file`. */
export function parseWords(words: readonly string[]): ParsedWords {
  const assignments: Assignment[] = [];
  const faults: string[] = [];
  let base: ParsedWords['base'];
  for (const word of words) {
    const isBase = word === '-' || word.trimStart().startsWith('{');
    if (isBase && base)
      faults.push(`${word === '-' ? '-' : 'the JSON'} cannot follow another complete input`);
    else if (word === '-') base = { source: 'stdin' };
    else if (isBase) base = { source: 'word', text: word };
    else {
      const assignment = readAssignment(word);
      if (assignment) assignments.push(assignment);
      else faults.push(`${JSON.stringify(word)} is not key=value, key:=json or a JSON object`);
    }
  }
  return { ...(base && { base }), assignments, faults };
}

function readAssignment(word: string): Assignment | undefined {
  const at = word.indexOf('=');
  const isJson = word[at - 1] === ':';
  const key = word.slice(0, isJson ? at - 1 : at);
  if (at < 0 || key === '') return undefined;
  const value = word.slice(at + 1);
  const isFile = value.startsWith('@');
  return {
    key,
    form: isJson ? 'json' : 'text',
    source: isFile ? 'file' : 'word',
    text: isFile ? value.slice(1) : value,
  };
}
