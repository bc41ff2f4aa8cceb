import { many } from './figures.ts';
import { table } from './table.ts';

/** What servers offer, a table below each server's name. */
export function grouped<T extends { readonly server: string }>(
  items: readonly T[],
  noun: string,
  columns: number | undefined,
  row: (item: T) => readonly string[],
): string[] {
  const groups = [...Map.groupBy(items, ({ server }) => server)].map(([server, its]) => [
    ...table([[`${server} (${many(its.length, noun)})`]], { columns }),
    ...table(its.map(row), { columns, indent: 2 }),
  ]);
  return groups.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}
