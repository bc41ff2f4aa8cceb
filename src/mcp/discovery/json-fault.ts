/** No real definition nests deeper than a few dozen; whoever goes on would break those that walk it later. */
const MAX_DEPTH = 200;
/** So many values in one definition are no definition any more: the largest known has three thousand. */
const MAX_VALUES = 100_000;

/** How much may still be taken of a list, in values and in characters; below 0 it was too much. */
export type Room = { values: number; text: number };

/** Why a value cannot be carried on as JSON; undefined if it can. What it holds is taken off the room. */
export function jsonFault(
  value: unknown,
  room: Room = { values: Number.POSITIVE_INFINITY, text: Number.POSITIVE_INFINITY },
): string | undefined {
  const walk = { left: MAX_VALUES, room, fault: undefined };
  visit(value, 0, walk);
  return walk.fault;
}

type Walk = { left: number; readonly room: Room; fault: string | undefined };

/** Every tool of every server comes through here: nothing is made on the way. */
function visit(value: unknown, depth: number, walk: Walk): void {
  if (typeof value === 'string') walk.room.text -= value.length;
  if (typeof value === 'bigint') walk.fault = 'it holds a number that JSON cannot';
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) walk.fault = `it nests deeper than ${MAX_DEPTH} levels`;
  else if (Array.isArray(value)) {
    for (let at = 0; at < value.length && take(walk); at++) visit(value[at], depth + 1, walk);
  } else {
    const members = value as Record<string, unknown>;
    for (const name in members) {
      walk.room.text -= name.length;
      if (!take(walk)) return;
      visit(members[name], depth + 1, walk);
    }
  }
}

function take(walk: Walk): boolean {
  walk.room.values--;
  if (--walk.left < 0) walk.fault ??= `it holds more than ${MAX_VALUES} values`;
  if (walk.room.values < 0 || walk.room.text < 0) walk.fault ??= 'there is no room for it';
  return walk.fault === undefined;
}
