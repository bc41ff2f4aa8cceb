import { readFileSync } from 'node:fs';
import { messageOf, SdkError, type SdkErrorCode } from '../protocol/sdk-error.ts';
import { jsonFault } from './json-fault.ts';

/** What a flag was given: the JSON of a file, or JSON itself, and how to call it in a message. */
export type JsonFlag = { readonly value: unknown; readonly where: string };

/** Reads a flag that takes the path of a JSON file or the text of an object. */
export function readJsonFlag(flag: string, given: string, code: SdkErrorCode): JsonFlag {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? flag : `${flag} ${given}`;
  // Editors on Windows begin a file with a byte order mark.
  const text = (isText ? given : read(given, where, code)).replace(/^\ufeff/, '');
  const fault = jsonFault(text);
  if (fault !== undefined) throw new SdkError(code, `${where} is no JSON: ${fault}`);
  return { value: JSON.parse(text), where };
}

function read(path: string, where: string, code: SdkErrorCode): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SdkError(code, `${where} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
