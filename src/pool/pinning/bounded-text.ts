/** Levels a definition may have, and characters of its JSON text; no real one comes near either. */
const MAX_DEPTH = 100;
const MAX_LENGTH = 300_000;

/** The JSON text of a definition; undefined for one so deep or so large that comparing it would take too long. */
export function boundedText(value: object): string | undefined {
  if (isTooDeep(value, MAX_DEPTH)) return undefined;
  const text = JSON.stringify(value);
  return text.length > MAX_LENGTH ? undefined : text;
}

function isTooDeep(value: object, left: number): boolean {
  if (left === 0) return true;
  const isDeep = (it: unknown) => typeof it === 'object' && it !== null && isTooDeep(it, left - 1);
  if (Array.isArray(value)) return value.some(isDeep);
  for (const name in value) if (isDeep((value as Record<string, unknown>)[name])) return true;
  return false;
}
