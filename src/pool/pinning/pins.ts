import { isEqualJson } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { normalizeName } from '../../protocol/tool-name.ts';
import { type Definition, definitionOf, isEquivalent } from './definition.ts';
import {
  type FilePinOptions,
  filePinStore,
  memoryPinStore,
  type PinStore,
  type PlacePins,
  type ServerPins,
} from './pin-store.ts';
import { findToolChange, type ToolChange } from './tool-change.ts';

/** A server under its key, in one place: the same key elsewhere is another server. */
export type Pinned = {
  readonly server: string;
  readonly place: string;
  /** A person vouched for the server: tools it adds later are accepted, changes of accepted ones are not. */
  readonly isTrusted?: boolean;
};

/** What came of looking at a list of tools. */
export type Observed = {
  /** Tools that are not what was accepted, now. */
  readonly changes: readonly ToolChange[];
  /** Tools that a known server did not have before and that are accepted all the same. */
  readonly added: readonly string[];
  /** The key is known, but from other places: everything counts as new. */
  readonly isElsewhere: boolean;
};

/** How many places of one key are remembered; the oldest is forgotten. */
const MAX_PLACES = 16;
/** How long what a server adds still belongs to its first list: some register tools once they know the client. */
const FIRST_SIGHT_MS = 60_000;
const MAX_GONE = 50;
const NO_PLACE_PINS: PlacePins = { accepted: new Map(), pending: new Map() };

/**
 * Which definition of each tool was accepted: silently when its server is seen for the first time, after that only by
 * somebody. First sight ends with the first call of a tool of the server, or after a minute.
 */
export class Pins {
  readonly #store: PinStore;
  readonly #known = new Map<string, ServerPins>();
  /** What was found to be as it was accepted. */
  readonly #fine = new WeakMap<ListedTool, Definition>();

  readonly #newTools: 'ask' | 'accept';
  readonly #now: () => number;
  /** Until when a server that was unknown to this process is in its first sight, by key and place. */
  readonly #firstSight = new Map<string, number>();

  constructor(
    store: PinStore = memoryPinStore(),
    {
      newTools = 'ask',
      now = () => performance.now(),
    }: { readonly newTools?: 'ask' | 'accept'; now?(): number } = {},
  ) {
    this.#store = store;
    this.#newTools = newTools;
    this.#now = now;
  }

  /** Whether another process can accept what this one saw. */
  get isLasting(): boolean {
    return this.#store.isLasting;
  }

  /** The keys of all servers that were ever looked at. */
  get servers(): readonly string[] {
    return this.#store.servers();
  }

  /**
   * Compares a list the server itself has just given, never a remembered one, with what was accepted. The tools of a
   * server nobody knew are accepted, unless they are to be left; what changed, or is new at a known server, waits to be
   * accepted in either case.
   */
  observe(at: Pinned, tools: readonly ListedTool[], unknown: 'accept' | 'leave' = 'accept'): Observed {
    const pins = this.#read(at.server);
    const known = pins.get(at.place);
    const listed = new Set(tools.map(({ name }) => name));
    const gone = known && goneFrom(known.accepted, listed);
    const fresh = new Map<string, Definition>();
    const changes: ToolChange[] = [];
    for (const tool of tools) {
      const change = this.#judge(at, known, tool, gone);
      if (change) changes.push(change);
      else if (unknown === 'accept' && !known?.accepted.has(tool.name))
        fresh.set(tool.name, definitionOf(tool));
    }
    const changed = new Map(changes.filter(isComparable).map(({ tool, after }) => [tool, after]));
    const seen: Seen = { fresh, changed, listed };
    const isFirst = !known && unknown === 'accept';
    if (isFirst) this.#firstSight.set(keyOf(at), this.#now() + FIRST_SIGHT_MS);
    if (!isFirst && fresh.size === 0 && !addsPending(known ?? NO_PLACE_PINS, seen)) {
      return { changes, added: [], isElsewhere: !known && pins.size > 0 };
    }
    const now = this.#change(at, (it) => withSeen(it, seen));
    const left = tools.filter(({ name }) => fresh.has(name) && now.accepted.get(name) !== fresh.get(name));
    const unaccepted = left.flatMap((tool) => this.#judge(at, now, tool, gone) ?? []);
    const added = known ? [...fresh.keys()].filter((name) => now.accepted.get(name) === fresh.get(name)) : [];
    return { changes: [...changes, ...unaccepted], added, isElsewhere: !known && pins.size > 0 };
  }

  /** How a tool differs from what was accepted; what another process accepted meanwhile counts. */
  changeOf(at: Pinned, tool: ListedTool): ToolChange | undefined {
    this.#firstSight.delete(keyOf(at));
    const find = (pins: ServerPins) => this.#judge(at, pins.get(at.place), tool);
    return find(this.#known.get(at.server) ?? this.#read(at.server)) && find(this.#read(at.server));
  }

  /** Accepts exactly the given change, and no later one. */
  acceptChange(change: ToolChange): void {
    this.#accept([change]);
  }

  /** Accepts what is not accepted yet of a server, or of one of its tools; gives what that was. */
  accept(server: string, tool?: string): ToolChange[] {
    const accepted = this.#pendingOf(server).filter((it) => tool === undefined || it.tool === tool);
    for (const changes of Map.groupBy(accepted, ({ place }) => place).values()) this.#accept(changes);
    return accepted;
  }

  /** Everything that is not accepted yet, of all servers. */
  all(): ToolChange[] {
    return this.#store
      .servers()
      .toSorted()
      .flatMap((server) => this.#pendingOf(server));
  }

  /** All of them in one place. */
  #accept(changes: readonly ToolChange[]): void {
    const [first] = changes;
    const definitions = changes.filter(isComparable).map(({ after }) => after);
    if (first && definitions.length > 0) this.#change(first, (now) => withAccepted(now, definitions));
  }

  /** A definition that was compared with the same one before need not be compared again. */
  #judge(
    at: Pinned,
    known: PlacePins | undefined,
    tool: ListedTool,
    gone = known?.gone,
  ): ToolChange | undefined {
    const before = pinOf(known?.accepted, tool.name);
    if (before && this.#fine.get(tool) === before) return undefined;
    const unknown = known?.isFull ? 'unseen' : this.#isNew(at, known) ? 'new' : 'accept';
    const change = findToolChange(at, before, tool, {
      unknown,
      gone: before || unknown !== 'new' ? [] : definitionsOf(known, gone),
    });
    if (before && !change) this.#fine.set(tool, before);
    return change;
  }

  /** Whether an unaccepted tool is new on a server that has accepted tools. */
  #isNew(at: Pinned, known: PlacePins | undefined): boolean {
    if (this.#newTools === 'accept' || at.isTrusted || !known || known.accepted.size === 0) return false;
    return this.#now() >= (this.#firstSight.get(keyOf(at)) ?? 0);
  }

  #pendingOf(server: string): ToolChange[] {
    return [...this.#read(server)].flatMap(([place, known]) => {
      const unknown = known.isFull ? 'unseen' : 'new';
      const judging = { unknown, gone: definitionsOf(known, known.gone) } as const;
      return [...known.pending.values()].flatMap(
        (it) => findToolChange({ server, place }, pinOf(known.accepted, it.name), it, judging) ?? [],
      );
    });
  }

  #read(server: string): ServerPins {
    const pins = this.#store.read(server);
    this.#known.set(server, pins);
    return pins;
  }

  #change({ server, place }: Pinned, change: (now: PlacePins) => PlacePins): PlacePins {
    const next = this.#store.update(server, (now) => {
      const changed = new Map(now).set(place, change(now.get(place) ?? NO_PLACE_PINS));
      return new Map([...changed].slice(-MAX_PLACES));
    });
    this.#known.set(server, next);
    return next.get(place) ?? NO_PLACE_PINS;
  }
}

/** Pins of this process alone: no server was accepted before it, so that what one adds while it runs belongs to it. */
export function processPins(): Pins {
  return new Pins(memoryPinStore(), { newTools: 'accept' });
}

function keyOf({ server, place }: Pinned): string {
  return JSON.stringify([server, place]);
}

/** What was accepted under these names; a server that dropped very many is not searched whole. */
function definitionsOf(known: PlacePins | undefined, names: ReadonlySet<string> = new Set()): Definition[] {
  return [...names].slice(0, MAX_GONE).flatMap((name) => known?.accepted.get(name) ?? []);
}

/** One that is beyond comparing is no definition to keep. */
function isComparable({ fingerprints }: ToolChange): boolean {
  return fingerprints.after !== '';
}

/** Whether a list without unknown tools makes anything wait that did not, or the other way round. */
function addsPending(known: PlacePins, seen: Seen): boolean {
  const { pending } = withSeen(known, seen);
  const isThere = ([name, it]: [string, Definition]) => isEqualJson(it, known.pending.get(name));
  return pending.size !== known.pending.size || ![...pending].every(isThere);
}

/** What was accepted, kept in a directory: `all()` lists what is not yet, `accept(server, tool?)` accepts it. */
export function openPins(directory: string, options: FilePinOptions = {}): Pins {
  return new Pins(filePinStore(directory, options));
}

type AcceptedTools = ReadonlyMap<string, Definition>;

/**
 * What a tool is to be compared with: what was accepted under its name, or under one that models and rules do not tell from
 * it (`read_file` for `read.file`). Otherwise a tool could take another's name, and the rules for it, as a new one.
 */
function pinOf(accepted: AcceptedTools | undefined, name: string): Definition | undefined {
  return accepted?.get(name) ?? (accepted && byPoolName(accepted).get(normalizeName(name)));
}

/** Kept with the pins, which are never altered in place. */
const poolNames = new WeakMap<AcceptedTools, ReadonlyMap<string, Definition>>();

function byPoolName(accepted: AcceptedTools): ReadonlyMap<string, Definition> {
  const known = poolNames.get(accepted);
  if (known) return known;
  const made = new Map<string, Definition>();
  for (const [name, definition] of accepted) made.set(normalizeName(name), definition);
  poolNames.set(accepted, made);
  return made;
}

/** What a list of tools adds to what is remembered. */
type Seen = {
  /** Tools without an accepted definition. */
  readonly fresh: ReadonlyMap<string, Definition>;
  /** Tools that are not what was accepted. */
  readonly changed: ReadonlyMap<string, Definition>;
  /** The names of all tools in the list. */
  readonly listed: ReadonlySet<string>;
};

/** So many definitions, of so many characters of JSON together. */
type Room = { readonly tools: number; readonly characters: number };

/** For each place; sixteen full ones are still a file that can be read. */
const MAX_ACCEPTED: Room = { tools: 10_000, characters: 8_000_000 };
const MAX_PENDING: Room = { tools: 1_000, characters: 2_000_000 };

/**
 * What is remembered once a list was seen. What others accepted meanwhile counts. Tools there is no room for are not
 * accepted but wait, and so does every unknown one from then on: a server that lists ever more cannot make pins be forgotten.
 */
export function withSeen(now: PlacePins, { fresh, changed, listed }: Seen, limit = MAX_ACCEPTED): PlacePins {
  const room = { ...limit };
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
  const pending = [...waiting, ...changed].filter(([name, it]) => !isEqualJson(now.accepted.get(name), it));
  const earlier = [...now.pending].filter(([name]) => !listed.has(name));
  const gone = goneFrom(accepted, listed);
  return {
    accepted: isFull ? listedLast(accepted, listed) : accepted,
    pending: fitting([...pending, ...earlier], MAX_PENDING),
    ...(pending.length > 0 && gone.size > 0 && { gone }),
    ...(isFull && { isFull }),
  };
}

/** Names of accepted tools that a list lacks. */
function goneFrom(
  accepted: ReadonlyMap<string, Definition>,
  listed: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set([...accepted.keys()].filter((name) => !listed.has(name)));
}

/** The pins after definitions were accepted; where there is no room, the ones that were listed longest ago are dropped. */
export function withAccepted(
  now: PlacePins,
  definitions: readonly Definition[],
  limit = MAX_ACCEPTED,
): PlacePins {
  const accepted = new Map(now.accepted);
  const pending = new Map(now.pending);
  for (const it of definitions) {
    accepted.delete(it.name);
    accepted.set(it.name, it);
    const waiting = pending.get(it.name);
    if (waiting && isEquivalent(waiting, it)) pending.delete(it.name);
  }
  const kept = fitting([...accepted].reverse(), limit);
  const isFull = now.isFull === true || kept.size < accepted.size;
  return {
    accepted: new Map([...kept].reverse()),
    pending,
    ...(now.gone && { gone: now.gone }),
    ...(isFull && { isFull }),
  };
}

/** Those that are listed behind those that are not, so that the first was not listed longest. */
function listedLast(
  accepted: ReadonlyMap<string, Definition>,
  listed: ReadonlySet<string>,
): ReadonlyMap<string, Definition> {
  const [gone, there] = [false, true].map((is) => [...accepted].filter(([name]) => listed.has(name) === is));
  return new Map([...(gone ?? []), ...(there ?? [])]);
}

/** The first definitions that fit. */
function fitting(all: readonly (readonly [string, Definition])[], limit: Room): Map<string, Definition> {
  const room = { ...limit };
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
