import { INVISIBLE_CHARACTERS } from '../../base/text/display-text.ts';
import {
  type EntryError,
  isExternalType,
  unknownType,
  writtenEntryFault,
} from '../../protocol/server-entry.ts';
import type { WrittenServer } from '../model.ts';

/** The problem of an entry as written; values with variables are validated after substitution. */
export function validateEntry(raw: Readonly<Record<string, unknown>>): EntryError | undefined {
  if (raw.type === 'sdk') return { member: 'type', message: IN_PROGRAM };
  const { entry } = normalizeEntry(raw);
  if (!isExternalType(entry.type ?? 'stdio'))
    return { member: 'type', message: unknownType(entry.type, 'file') };
  return writtenEntryFault(entry) ?? faultOfSwitch(raw);
}

const IN_PROGRAM =
  'an in-process server cannot be defined in a file: pass it to query() in the program, or write a stdio, http, sse or ws entry';

/** A switch that is not a boolean may be meant to disable the server, so the server is not started. */
function faultOfSwitch(raw: Readonly<Record<string, unknown>>): EntryError | undefined {
  const member = ['disabled', 'enabled'].find((it) => raw[it] !== undefined && typeof raw[it] !== 'boolean');
  return member === undefined ? undefined : { member, message: `"${member}" must be true or false` };
}

type Values = Readonly<Record<string, unknown>>;

/** Replaces aliases of types by Toolplane's names and separates the switches, which are not part of a connection. */
export function normalizeEntry(raw: Values): Pick<WrittenServer, 'off'> & { readonly entry: Values } {
  const { disabled, enabled, ...entry } = raw;
  const off = disabled === true ? 'disabled' : enabled === false ? 'enabled' : undefined;
  const isAlias = typeof entry.type === 'string' && HTTP.test(entry.type);
  if (disabled === undefined && enabled === undefined && !isAlias) return { entry: raw };
  return { entry: isAlias ? { ...entry, type: 'http' } : entry, ...(off !== undefined && { off }) };
}

/** The name of type `http` in other programs. */
const HTTP = /^streamable[-_]?http$/i;

/** Why a name cannot be used for a server, or undefined. Names in every script are allowed. */
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
