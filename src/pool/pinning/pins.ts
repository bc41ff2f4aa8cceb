import type { ListedTool } from '../../protocol/mcp.ts';
import { isIdentical } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';
import { type Effort, fullEffort } from './effort.ts';
import { judge, type ToolChange } from './judge.ts';
import { pinOf } from './pin-of.ts';
import { memoryPinStore, type PinStore, type PlacePins, type ServerPins } from './pin-store.ts';
import { goneFrom, type Seen, withAccepted, withSeen } from './remember.ts';

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
const NONE: PlacePins = { accepted: new Map(), pending: new Map() };

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
    const judging = { effort: fullEffort(), ...(known && { gone: goneFrom(known.accepted, listed) }) };
    const fresh = new Map<string, Definition>();
    const changes: ToolChange[] = [];
    for (const tool of tools) {
      const change = this.#judge(at, known, tool, judging);
      if (change) changes.push(change);
      else if (unknown === 'accept' && !known?.accepted.has(tool.name))
        fresh.set(tool.name, definitionOf(tool));
    }
    const changed = new Map(changes.filter(isComparable).map(({ tool, after }) => [tool, after]));
    const seen: Seen = { fresh, changed, listed };
    const isFirst = !known && unknown === 'accept';
    if (isFirst) this.#firstSight.set(keyOf(at), this.#now() + FIRST_SIGHT_MS);
    if (!isFirst && fresh.size === 0 && !addsPending(known ?? NONE, seen)) {
      return { changes, added: [], isElsewhere: !known && pins.size > 0 };
    }
    const now = this.#change(at, (it) => withSeen(it, seen));
    const left = tools.filter(({ name }) => fresh.has(name) && now.accepted.get(name) !== fresh.get(name));
    const unaccepted = left.flatMap((tool) => this.#judge(at, now, tool, judging) ?? []);
    const added = known ? [...fresh.keys()].filter((name) => now.accepted.get(name) === fresh.get(name)) : [];
    return { changes: [...changes, ...unaccepted], added, isElsewhere: !known && pins.size > 0 };
  }

  /** How a tool differs from what was accepted; what another process accepted meanwhile counts. */
  changeOf(at: Pinned, tool: ListedTool): ToolChange | undefined {
    this.#firstSight.delete(keyOf(at));
    const find = (pins: ServerPins) => this.#judge(at, pins.get(at.place), tool);
    return find(this.#known.get(at.server) ?? this.#read(at.server)) && find(this.#read(at.server));
  }

  /** Accepts what somebody was shown, and no later change. */
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
    { gone = known?.gone, effort = fullEffort() }: { gone?: ReadonlySet<string>; effort?: Effort } = {},
  ): ToolChange | undefined {
    const before = pinOf(known?.accepted, tool.name);
    if (before && this.#fine.get(tool) === before) return undefined;
    const unknown = known?.isFull ? 'unseen' : this.#isNew(at, known) ? 'new' : 'accept';
    const change = judge(at, before, tool, {
      unknown,
      effort,
      gone: before || unknown !== 'new' ? [] : definitionsOf(known, gone),
    });
    if (before && !change) this.#fine.set(tool, before);
    return change;
  }

  /** Whether a tool nobody accepted is new at a server of which something was accepted before. */
  #isNew(at: Pinned, known: PlacePins | undefined): boolean {
    if (this.#newTools === 'accept' || at.isTrusted || !known || known.accepted.size === 0) return false;
    return this.#now() >= (this.#firstSight.get(keyOf(at)) ?? 0);
  }

  #pendingOf(server: string): ToolChange[] {
    const effort = fullEffort();
    return [...this.#read(server)].flatMap(([place, known]) => {
      const unknown = known.isFull ? 'unseen' : 'new';
      const judging = { unknown, effort, gone: definitionsOf(known, known.gone) } as const;
      return [...known.pending.values()].flatMap(
        (it) => judge({ server, place }, pinOf(known.accepted, it.name), it, judging) ?? [],
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
      const changed = new Map(now).set(place, change(now.get(place) ?? NONE));
      return new Map([...changed].slice(-MAX_PLACES));
    });
    this.#known.set(server, next);
    return next.get(place) ?? NONE;
  }
}

/** Pins of this process alone: no server was accepted before it, so that what one adds while it runs belongs to it. */
export function passingPins(): Pins {
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
  const isThere = ([name, it]: [string, Definition]) => isIdentical(it, known.pending.get(name));
  return pending.size !== known.pending.size || ![...pending].every(isThere);
}
