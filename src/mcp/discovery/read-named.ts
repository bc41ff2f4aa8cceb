import { isRecord } from '../../base/is-record.ts';
import { jsonFault, type Room } from './json-fault.ts';

/** Real names have a few dozen characters; whatever is made of one takes its time with every character. */
const LONGEST = 1_024;

/** An entry that has a name to be called by and is JSON one can read, or why it is none. */
export function readNamed(
  value: unknown,
  room: Room | undefined,
):
  | { readonly value: Readonly<Record<string, unknown>>; readonly name: string }
  | { name?: string; fault: string } {
  if (!isRecord(value)) return { fault: 'it is no object' };
  const named = readName(value.name);
  if ('fault' in named) return named;
  const fault = jsonFault(value, room);
  return fault === undefined ? { value, name: named.name } : { name: named.name, fault };
}

function readName(name: unknown): { readonly name: string } | { name?: string; fault: string } {
  if (typeof name !== 'string' || name === '') return { fault: '"name" must be a non-empty string' };
  return name.length > LONGEST ? { name, fault: `"name" is longer than ${LONGEST} characters` } : { name };
}
