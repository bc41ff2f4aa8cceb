/** JSON text of data in which maps and sets keep what they hold, and the data as a reader of that text has it. Throws for what JSON cannot say. */
export function plainJson(value: object): { text: string; data: unknown } {
  const text = JSON.stringify(value) ?? '';
  // Both are written as an empty object, so only such a text needs the slower way.
  if (!text.includes('{}')) return { text, data: value };
  let isConverted = false;
  const full = JSON.stringify(value, (_key, member: unknown) => {
    if (!(member instanceof Map) && !(member instanceof Set)) return member;
    isConverted = true;
    return member instanceof Map ? entriesOf(member) : [...member];
  });
  return isConverted ? { text: full, data: JSON.parse(full) } : { text, data: value };
}

/** Keys that are no strings would meet each other as text. */
function entriesOf(map: ReadonlyMap<unknown, unknown>): unknown {
  const isNamed = [...map.keys()].every((key) => typeof key === 'string');
  return isNamed ? Object.fromEntries(map) : [...map];
}
