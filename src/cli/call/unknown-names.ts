import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import { type Declared, hasMembers, isOpen, itemOf, memberNames, memberOf } from './declared.ts';

/** What is said of a name that a tool does not declare, and whether the tool says that it takes such. */
export type UnknownName = { readonly text: string; readonly isTaken: boolean };

/** The names in an input that nothing declares, most likely typos; those within objects and lists too. */
export function unknownNames(value: unknown, declared: Declared, at = ''): UnknownName[] {
  if (Array.isArray(value)) {
    const item = itemOf(declared);
    return value.flatMap((it, index) => unknownNames(it, item, `${at}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const names = memberNames(declared);
  const isTaken = isOpen(declared);
  return Object.entries(value).flatMap(([name, member]) => {
    const where = at === '' ? name : `${at}.${name}`;
    if (names.includes(name) || !hasMembers(declared)) {
      return unknownNames(member, memberOf(declared, name), where);
    }
    return [{ text: sayUnknown(name, at, names), isTaken }];
  });
}

function sayUnknown(name: string, at: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const takes = known.length === 0 ? 'nothing' : known.join(', ');
  const hint = meant === undefined ? ` (it takes ${takes})` : `; did you mean "${meant}"?`;
  return `${at === '' ? '' : `${at}: `}the tool declares no "${name}"${hint}`;
}
