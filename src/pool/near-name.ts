import { nearest } from '../base/text/nearest.ts';

/** The tool of a pool that was most likely meant. Names of one server begin alike, so that only their ends are compared. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  const end = name.lastIndexOf('__') + 2;
  const prefix = end > 2 ? name.slice(0, end) : '';
  const siblings = prefix === '' ? [] : known.filter((it) => it.startsWith(prefix));
  if (siblings.length === 0) return nearest(name, known);
  const meant = nearest(
    name.slice(end),
    siblings.map((it) => it.slice(end)),
  );
  return meant === undefined ? undefined : prefix + meant;
}
