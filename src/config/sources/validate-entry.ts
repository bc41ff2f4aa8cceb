import { INVISIBLE_CHARACTERS } from '../../base/text/display-text.ts';
import {
  type EntryError,
  isExternalType,
  unknownType,
  writtenEntryFault,
} from '../../protocol/server-entry.ts';
import type { WrittenServer } from '../model.ts';

/** What is wrong with an entry as it was written; where something is put in later, that is judged then. */
export function validateEntry(raw: Readonly<Record<string, unknown>>): EntryError | undefined {
  if (raw.type === 'sdk') return { member: 'type', message: IN_PROGRAM };
  const { entry } = normalizeEntry(raw);
  if (!isExternalType(entry.type ?? 'stdio'))
    return { member: 'type', message: unknownType(entry.type, 'file') };
  return writtenEntryFault(entry) ?? faultOfSwitch(raw);
}

const IN_PROGRAM =
  'a server in a program cannot be in a file: give it to query() there, or write a stdio, http, sse or ws entry';

/** Who wrote something else there may have meant to turn it off, so it is not started. */
function faultOfSwitch(raw: Readonly<Record<string, unknown>>): EntryError | undefined {
  const member = ['disabled', 'enabled'].find((it) => raw[it] !== undefined && typeof raw[it] !== 'boolean');
  return member === undefined ? undefined : { member, message: `"${member}" is true or false` };
}

type Values = Readonly<Record<string, unknown>>;

/**
 * An entry as it is meant: what others call a type is the one we have, and whether it is turned off stands apart, since
 * that is nothing to dial with.
 */
export function normalizeEntry(raw: Values): Pick<WrittenServer, 'off'> & { readonly entry: Values } {
  const { disabled, enabled, ...entry } = raw;
  const off = disabled === true ? 'disabled' : enabled === false ? 'enabled' : undefined;
  const isAlias = typeof entry.type === 'string' && HTTP.test(entry.type);
  if (disabled === undefined && enabled === undefined && !isAlias) return { entry: raw };
  return { entry: isAlias ? { ...entry, type: 'http' } : entry, ...(off !== undefined && { off }) };
}

/** As it is called elsewhere. */
const HTTP = /^streamable[-_]?http$/i;
/** Why a server cannot be called so, or undefined if it can. Names of every script are fine. */
export function validateServerName(name: string): string | undefined {
  if (name.trim() === '') return 'the name of a server must not be empty';
  if (name.length > MAX_NAME_LENGTH)
    return `the name of a server must have at most ${MAX_NAME_LENGTH} characters; shorten it`;
  if (!name.isWellFormed() || name.search(INVISIBLE_CHARACTERS) !== -1)
    return 'the name of a server must not contain control characters; remove them';
  if (name.startsWith('-'))
    return 'the name of a server must not begin with "-", which commands read as a flag; rename it';
  if (name === '__proto__') return '"__proto__" is reserved by JavaScript; rename the server';
  return undefined;
}

const MAX_NAME_LENGTH = 200;
