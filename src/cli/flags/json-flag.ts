import { readFileSync } from 'node:fs';
import { parseJsonc } from '../../config/files/parse-jsonc.ts';
import { messageOf, SdkError, type SdkErrorCode } from '../../protocol/sdk-error.ts';

/** The parsed value of a flag, and its name for messages. */
type JsonFlag = { readonly value: unknown; readonly where: string };

/** Parses a flag that is the path of a JSON file or the text of an object. */
export function parseJsonFlag(flag: string, given: string, code: SdkErrorCode): JsonFlag {
  const isText = given.trimStart().startsWith('{');
  const where = isText ? flag : `${flag} ${given}`;
  // Editors on Windows write a byte order mark.
  const text = (isText ? given : read(given, where, code)).replace(/^\ufeff/, '');
  const fault = jsonFault(text);
  if (fault !== undefined) throw new SdkError(code, `${where} is not valid JSON: ${fault}`);
  return { value: JSON.parse(text), where };
}

function read(path: string, where: string, code: SdkErrorCode): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SdkError(code, `cannot read ${where}: ${messageOf(cause)}`, { cause });
  }
}

/** Where a text is not valid JSON; undefined if it is. The text may be a secret, so no part of it is quoted. */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    if (text.trim() === '') return 'the text is empty';
    const [fault] = parseJsonc(text).faults;
    if (!fault) return 'comments and trailing commas are not allowed';
    const { message, position } = fault;
    return `line ${position.line}, column ${position.column}: ${message}`;
  }
}
