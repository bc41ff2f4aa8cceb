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
import { findToolChange, isComparable, type ToolChange } from './tool-change.ts';

/** A server: its key and its place (see `placeOf`); the same key in another place is another server. */
export type Pinned = {
  readonly server: string;
  readonly place: string;
  /** The user trusts the server: tools that it adds later are accepted, changes of accepted tools are not. */
  readonly isTrusted?: boolean;
};

/** The outcome of comparing a list of tools with the accepted definitions. */
export type Observed = {
  /** Tools that require acceptance. */
  readonly changes: readonly ToolChange[];
  /** The key is known, but from other places only: all tools count as first seen. */
  readonly isElsewhere: boolean;
};

/** How many places of one key are stored; the oldest is dropped. */
const MAX_PLACES = 16;
/** How long added tools count as first seen: some servers register tools after they know the client's capabilities. */
const FIRST_SIGHT_MS = 60_000;
const MAX_GONE = 50;
const NO_PLACE_PINS: PlacePins = { accepted: new Map(), pending: new Map() };

/**
 * The accepted definition of each tool. Tools are accepted automatically while their server is first seen, and later only
 * by a user or a rule. First sight ends with the first call of a tool of the server, or after a minute.
 */
export class Pins {
  readonly #store: PinStore;
  readonly #known = new Map<string, ServerPins>();
  /** Tools that equal their accepted definition. */
  readonly #unchanged = new WeakMap<ListedTool, Definition>();

  readonly #newTools: 'ask' | 'accept';
  readonly #now: () => number;
  /** When first sight ends, by key and place. */
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

  /** Whether other processes share these pins. */
  get isLasting(): boolean {
    return this.#store.isLasting;
  }

  /** The keys of all servers with pins. */
  get servers(): readonly string[] {
    return this.#store.servers();
  }

  /**
   * Compares a list that the server has just returned (never a cached one) with the accepted definitions. Tools of an
   * unknown server are accepted unless `unknown` is `leave`; changed tools, and new tools of a known server, become
   * pending.
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
    const isElsewhere = !known && pins.size > 0;
    if (!isFirst && fresh.size === 0 && !changesPending(known ?? NO_PLACE_PINS, seen)) {
      return { changes, isElsewhere };
    }
    const now = this.#change(at, (it) => withSeen(it, seen));
    const left = tools.filter(({ name }) => fresh.has(name) && now.accepted.get(name) !== fresh.get(name));
    const unaccepted = left.flatMap((tool) => this.#judge(at, now, tool, gone) ?? []);
    return { changes: [...changes, ...unaccepted], isElsewhere };
  }

  /** The change of a tool that requires acceptance; definitions that another process accepted meanwhile count. */
  changeOf(at: Pinned, tool: ListedTool): ToolChange | undefined {
    this.#firstSight.delete(keyOf(at));
    const find = (pins: ServerPins) => this.#judge(at, pins.get(at.place), tool);
    return find(this.#known.get(at.server) ?? this.#read(at.server)) && find(this.#read(at.server));
  }

  /** Accepts exactly this change; a later one requires acceptance again. */
  acceptChange(change: ToolChange): void {
    this.#accept([change]);
  }

  /** Accepts the pending changes of a server, or of one of its tools, and returns them. */
  accept(server: string, tool?: string): ToolChange[] {
    const accepted = this.#pendingOf(server).filter((it) => tool === undefined || it.tool === tool);
    for (const changes of Map.groupBy(accepted, ({ place }) => place).values()) this.#accept(changes);
    return accepted;
  }

  /** The pending changes of all servers. */
  all(): ToolChange[] {
    return this.#store
      .servers()
      .toSorted()
      .flatMap((server) => this.#pendingOf(server));
  }

  /** Accepts changes of one place. */
  #accept(changes: readonly ToolChange[]): void {
    const [first] = changes;
    const definitions = changes.filter(isComparable).map(({ after }) => after);
    if (first && definitions.length > 0) this.#change(first, (now) => withAccepted(now, definitions));
  }

  #judge(
    at: Pinned,
    known: PlacePins | undefined,
    tool: ListedTool,
    gone = known?.gone,
  ): ToolChange | undefined {
    const before = pinOf(known?.accepted, tool.name);
    if (before && this.#unchanged.get(tool) === before) return undefined;
    const unknown = known?.isFull ? 'unseen' : this.#isNew(at, known) ? 'new' : 'accept';
    const change = findToolChange(at, before, tool, {
      unknown,
      gone: before || unknown !== 'new' ? [] : definitionsOf(known, gone),
    });
    if (before && !change) this.#unchanged.set(tool, before);
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

/** Pins of this process only. Tools that servers add while it runs are accepted, changes are not. */
export function processPins(): Pins {
  return new Pins(memoryPinStore(), { newTools: 'accept' });
}

function keyOf({ server, place }: Pinned): string {
  return JSON.stringify([server, place]);
}

/** The accepted definitions under these names, up to a limit. */
function definitionsOf(known: PlacePins | undefined, names: ReadonlySet<string> = new Set()): Definition[] {
  return [...names].slice(0, MAX_GONE).flatMap((name) => known?.accepted.get(name) ?? []);
}

/** Whether a list changes what is pending. */
function changesPending(known: PlacePins, seen: Seen): boolean {
  const { pending } = withSeen(known, seen);
  const isThere = ([name, it]: [string, Definition]) => isEqualJson(it, known.pending.get(name));
  return pending.size !== known.pending.size || ![...pending].every(isThere);
}

/** Pins that are stored in a directory. */
export function openPins(directory: string, options: FilePinOptions = {}): Pins {
  return new Pins(filePinStore(directory, options));
}

type AcceptedTools = ReadonlyMap<string, Definition>;

/**
 * The accepted definition under a tool's name, or under a name that normalizes to the same one (`read_file` for
 * `read.file`): otherwise a new tool could take over the pool name of another tool, and the rules for it.
 */
function pinOf(accepted: AcceptedTools | undefined, name: string): Definition | undefined {
  return accepted?.get(name) ?? (accepted && byPoolName(accepted).get(normalizeName(name)));
}

/** Cached by map: maps of pins are never changed in place. */
const poolNames = new WeakMap<AcceptedTools, ReadonlyMap<string, Definition>>();

function byPoolName(accepted: AcceptedTools): ReadonlyMap<string, Definition> {
  const known = poolNames.get(accepted);
  if (known) return known;
  const made = new Map<string, Definition>();
  for (const [name, definition] of accepted) made.set(normalizeName(name), definition);
  poolNames.set(accepted, made);
  return made;
}

/** What a list of tools contains beyond the accepted definitions. */
type Seen = {
  /** Tools without an accepted definition. */
  readonly fresh: ReadonlyMap<string, Definition>;
  /** Tools that differ from their accepted definition. */
  readonly changed: ReadonlyMap<string, Definition>;
  /** The names of all tools in the list. */
  readonly listed: ReadonlySet<string>;
};

/** A limit: a number of definitions, and of characters of their JSON together. */
type Room = { readonly tools: number; readonly characters: number };

/** Limits per place; a file has at most sixteen places. */
const MAX_ACCEPTED: Room = { tools: 10_000, characters: 8_000_000 };
const MAX_PENDING: Room = { tools: 1_000, characters: 2_000_000 };

/**
 * The pins after a list was seen. Tools beyond the limit become pending instead of accepted, and so does every unknown
 * tool from then on: a server cannot make accepted definitions be dropped by listing more and more tools.
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

/** The pins after definitions were accepted; beyond the limit, the definitions that were listed longest ago are dropped. */
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

/** Listed definitions after the others, so that the first one was not listed for the longest time. */
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

/** Whether a definition fits; one that does not fit uses up the room. */
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
