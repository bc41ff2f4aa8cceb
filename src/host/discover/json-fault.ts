/** No real definition nests deeper than a few dozen; whoever goes on would break those that walk it later. */
const MAX_DEPTH = 200;
/** So many values in one definition are no definition any more. */
const MAX_VALUES = 500_000;

/** Why a value cannot be carried on as JSON; undefined if it can. */
export function jsonFault(value: unknown): string | undefined {
  const walk = { left: MAX_VALUES, fault: undefined };
  visit(value, 0, walk);
  return walk.fault;
}

type Walk = { left: number; fault: string | undefined };

/** Every tool of every server comes through here: nothing is made on the way. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (typeof value === 'bigint') walk.fault = 'it holds a number that JSON cannot';
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) walk.fault = `it nests deeper than ${MAX_DEPTH} levels`;
  else if (Array.isArray(value)) {
    for (let at = 0; at < value.length && take(walk); at++) visit(value[at], depth + 1, walk);
  } else {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      if (!take(walk)) return;
      visit(members[name], depth + 1, walk);
    }
  }
}

function take(walk: Walk): boolean {
  if (--walk.left < 0) walk.fault ??= `it holds more than ${MAX_VALUES} values`;
  return walk.fault === undefined;
}
