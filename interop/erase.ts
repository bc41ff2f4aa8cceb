/** The value without the members a path leads to: names between dots, `*` for any name or place in a list. */
export function erase(value: unknown, path: string): unknown {
  const [name = '', ...rest] = path.split('.');
  const isMeant = (key: string) => name === '*' || name === key;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((_, index) => !isMeant(String(index)));
    return value.map((item: unknown, index) => (isMeant(String(index)) ? erase(item, rest.join('.')) : item));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      if (!isMeant(key)) return [[key, item]];
      return rest.length === 0 ? [] : [[key, erase(item, rest.join('.'))]];
    }),
  );
}
