import { namedSecrets } from '../../config/expand/expand-entry.ts';
import { table } from '../host/table.ts';

/** A secret and the servers whose entries refer to it. */
export type ListedSecret = { readonly name: string; readonly servers: readonly string[] };

/** Those that are kept, and those that are only referred to; both in the order of names. */
export type SecretList = {
  readonly secrets: readonly ListedSecret[];
  readonly missing: readonly ListedSecret[];
};

/** Who refers to what. */
export function listSecrets(
  kept: readonly string[],
  entries: readonly (readonly [server: string, entry: object])[],
): SecretList {
  const users = new Map<string, Set<string>>();
  for (const [server, entry] of entries) {
    for (const name of namedSecrets(entry)) users.set(name, (users.get(name) ?? new Set()).add(server));
  }
  const listed = (name: string) => ({ name, servers: [...(users.get(name) ?? [])].toSorted() });
  const missing = [...users.keys()].filter((name) => !kept.includes(name));
  return { secrets: kept.toSorted().map(listed), missing: missing.toSorted().map(listed) };
}

/** A line each; `unknown` if nobody could be asked for the servers. */
export function secretTable(
  { secrets }: Pick<SecretList, 'secrets'>,
  columns: number | undefined,
  users: 'known' | 'unknown',
): string[] {
  const told = (servers: readonly string[]) =>
    users === 'unknown' ? '?' : servers.length === 0 ? 'no server' : servers.join(', ');
  const rows = secrets.map(({ name, servers }) => [name, told(servers)]);
  return table([['secret', 'used by'], ...rows], { columns });
}
