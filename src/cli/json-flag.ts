import { readFileSync } from 'node:fs';
import { messageOf, SdkError, type SdkErrorCode } from '../protocol/sdk-error.ts';

/** What a flag was given: the JSON of a file, or JSON itself, and how to call it in a message. */
export type JsonFlag = { readonly value: unknown; readonly where: string };

/** Reads a flag that takes the path of a JSON file or the text of an object. */
export function readJsonFlag(flag: string, given: string, code: SdkErrorCode): JsonFlag {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? flag : `${flag} ${given}`;
  const refuse = (fault: string, cause: unknown): never => {
    throw new SdkError(code, `${where} ${fault}: ${messageOf(cause)}`, { cause });
  };
  return { value: parse(isText ? given : read(given, refuse), refuse), where };
}

type Refuse = (fault: string, cause: unknown) => never;

function read(path: string, refuse: Refuse): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    return refuse('cannot be read', cause);
  }
}

function parse(text: string, refuse: Refuse): unknown {
  try {
    // Editors on Windows begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    return refuse('is no JSON', cause);
  }
}
