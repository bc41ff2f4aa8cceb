import { isAlike, isIdentical } from './canonical.ts';
import type { Definition } from './definition.ts';
import { pinOf } from './pin-of.ts';
import type { PlacePins } from './pin-store.ts';

/** What a list of tools adds to what is remembered. */
export type Seen = {
  /** Tools nobody knew. */
  readonly fresh: ReadonlyMap<string, Definition>;
  /** Tools that are not what was accepted. */
  readonly changed: ReadonlyMap<string, Definition>;
  /** The names of all tools in the list. */
  readonly listed: ReadonlySet<string>;
};

/** So many definitions, of so many characters of JSON together. */
export type Room = { readonly tools: number; readonly characters: number };

/** For each place; sixteen full ones are still a file that can be read. */
const ACCEPTED: Room = { tools: 10_000, characters: 8_000_000 };
const PENDING: Room = { tools: 1_000, characters: 2_000_000 };

/**
 * What is remembered once a list was seen. What others accepted meanwhile counts. Tools there is no room for are not
 * accepted but wait, and so does every unknown one from then on: a server that lists ever more cannot make pins be forgotten.
 */
export function withSeen(now: PlacePins, { fresh, changed, listed }: Seen, most = ACCEPTED): PlacePins {
  const room = { ...most };
  if (fresh.size > 0) for (const it of now.accepted.values()) take(room, it);
  const accepted = new Map(now.accepted);
  const waiting = new Map<string, Definition>();
  let isFull = now.isFull === true;
  for (const [name, it] of fresh) {
    const pin = pinOf(now.accepted, name);
    isFull ||= !pin && !take(room, it);
    if (pin || isFull) waiting.set(name, it);
    else accepted.set(name, it);
  }
  const pending = [...waiting, ...changed].filter(([name, it]) => !isIdentical(now.accepted.get(name), it));
  const earlier = [...now.pending].filter(([name]) => !listed.has(name));
  const gone = goneFrom(accepted, listed);
  return {
    accepted: isFull ? seenLast(accepted, listed) : accepted,
    pending: fitting([...pending, ...earlier], PENDING),
    ...(pending.length > 0 && gone.size > 0 && { gone }),
    ...(isFull && { isFull }),
  };
}

/** Names of accepted tools that a list lacks. */
export function goneFrom(
  accepted: ReadonlyMap<string, Definition>,
  listed: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set([...accepted.keys()].filter((name) => !listed.has(name)));
}

/** What is remembered once somebody accepted definitions; where there is no room, what was not listed longest is forgotten. */
export function withAccepted(now: PlacePins, definitions: readonly Definition[], most = ACCEPTED): PlacePins {
  const accepted = new Map(now.accepted);
  const pending = new Map(now.pending);
  for (const it of definitions) {
    accepted.delete(it.name);
    accepted.set(it.name, it);
    const waiting = pending.get(it.name);
    if (waiting && isAlike(waiting, it)) pending.delete(it.name);
  }
  const kept = fitting([...accepted].reverse(), most);
  const isFull = now.isFull === true || kept.size < accepted.size;
  return {
    accepted: new Map([...kept].reverse()),
    pending,
    ...(now.gone && { gone: now.gone }),
    ...(isFull && { isFull }),
  };
}

/** Those that are listed behind those that are not, so that the first was not listed longest. */
function seenLast(
  accepted: ReadonlyMap<string, Definition>,
  listed: ReadonlySet<string>,
): ReadonlyMap<string, Definition> {
  const [gone, there] = [false, true].map((is) => [...accepted].filter(([name]) => listed.has(name) === is));
  return new Map([...(gone ?? []), ...(there ?? [])]);
}

/** The first that fit. */
function fitting(all: readonly (readonly [string, Definition])[], most: Room): Map<string, Definition> {
  const room = { ...most };
  const end = all.findIndex(([, it]) => !take(room, it));
  return new Map(end < 0 ? all : all.slice(0, end));
}

/** Whether there was room for it; what does not fit leaves none for others. */
function take(room: { tools: number; characters: number }, definition: Definition): boolean {
  room.tools -= 1;
  room.characters -= lengthOf(definition);
  return room.tools >= 0 && room.characters >= 0;
}

const lengths = new WeakMap<Definition, number>();

function lengthOf(definition: Definition): number {
  const length = lengths.get(definition) ?? JSON.stringify(definition).length;
  lengths.set(definition, length);
  return length;
}
