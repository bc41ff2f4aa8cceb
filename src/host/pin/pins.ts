import type { ListedTool } from '../../protocol/mcp.ts';
import { isAlike } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';
import { judge, type ToolChange } from './judge.ts';
import { memoryPinStore, type PinStore, type PlacePins, type ServerPins } from './pin-store.ts';

/** A server under its key, in one place: the same key elsewhere is another server. */
export type Pinned = { readonly server: string; readonly place: string };

/** What came of looking at a list of tools. */
export type Observed = {
  /** Tools that are not what was accepted, now. */
  readonly changes: readonly ToolChange[];
  /** Tools that a server that was known did not have before; they are accepted. */
  readonly added: readonly string[];
  /** The key is known, but from other places: everything counts as new. */
  readonly isElsewhere: boolean;
};

/** How many places of one key are remembered; the oldest is forgotten. */
const MAX_PLACES = 16;
const NONE: PlacePins = { accepted: new Map(), pending: new Map() };

/** Which definition of each tool was accepted: at first sight silently, after a change only by somebody. */
export class Pins {
  readonly #store: PinStore;
  readonly #known = new Map<string, ServerPins>();
  /** What was found to be as it was accepted. */
  readonly #fine = new WeakMap<ListedTool, Definition>();

  constructor(store: PinStore = memoryPinStore()) {
    this.#store = store;
  }

  /** Whether another process can accept what this one saw. */
  get isLasting(): boolean {
    return this.#store.isLasting;
  }

  /** Compares a list the server itself has just given, never a remembered one, with what was accepted. */
  observe(at: Pinned, tools: readonly ListedTool[]): Observed {
    const pins = this.#read(at.server);
    const known = pins.get(at.place);
    const fresh = new Map<string, Definition>();
    const changes: ToolChange[] = [];
    for (const tool of tools) {
      const before = known?.accepted.get(tool.name);
      const change = this.#judge(at, before, tool);
      if (change) changes.push(change);
      else if (!before) fresh.set(tool.name, definitionOf(tool));
    }
    const listed = new Set(tools.map(({ name }) => name));
    const pending = new Map([...(known?.pending ?? [])].filter(([name]) => !listed.has(name)));
    for (const { tool, after } of changes.filter(isComparable)) pending.set(tool, after);
    if (fresh.size > 0 || !known || !isSameMap(pending, known.pending)) {
      this.#change(at, (now) => ({ accepted: new Map([...fresh, ...now.accepted]), pending }));
    }
    return { changes, added: known ? [...fresh.keys()] : [], isElsewhere: !known && pins.size > 0 };
  }

  /** How a tool differs from what was accepted; what another process accepted meanwhile counts. */
  changeOf(at: Pinned, tool: ListedTool): ToolChange | undefined {
    const find = (pins: ServerPins) => this.#judge(at, pins.get(at.place)?.accepted.get(tool.name), tool);
    return find(this.#known.get(at.server) ?? this.#read(at.server)) && find(this.#read(at.server));
  }

  /** Accepts what somebody was shown, and no later change. */
  acceptChange(change: ToolChange): void {
    const { tool, after } = change;
    if (!isComparable(change)) return;
    this.#change(change, (now) => {
      const other = now.pending.get(tool);
      const pending = new Map(now.pending);
      if (other && isAlike(other, after)) pending.delete(tool);
      return { accepted: new Map(now.accepted).set(tool, after), pending };
    });
  }

  /** Accepts what is not accepted yet of a server, or of one of its tools; gives what that was. */
  accept(server: string, tool?: string): ToolChange[] {
    const accepted = this.#pendingOf(server).filter((it) => tool === undefined || it.tool === tool);
    for (const change of accepted) this.acceptChange(change);
    return accepted;
  }

  /** Everything that is not accepted yet, of all servers. */
  all(): ToolChange[] {
    return this.#store
      .servers()
      .toSorted()
      .flatMap((server) => this.#pendingOf(server));
  }

  /** A definition that was compared with the same one before need not be compared again. */
  #judge(at: Pinned, before: Definition | undefined, tool: ListedTool): ToolChange | undefined {
    if (before && this.#fine.get(tool) === before) return undefined;
    const change = judge(at, before, tool);
    if (before && !change) this.#fine.set(tool, before);
    return change;
  }

  #pendingOf(server: string): ToolChange[] {
    return [...this.#read(server)].flatMap(([place, { accepted, pending }]) =>
      [...pending.values()].flatMap((it) => judge({ server, place }, accepted.get(it.name), it) ?? []),
    );
  }

  #read(server: string): ServerPins {
    const pins = this.#store.read(server);
    this.#known.set(server, pins);
    return pins;
  }

  #change({ server, place }: Pinned, change: (now: PlacePins) => PlacePins): void {
    const next = this.#store.update(server, (now) => {
      const changed = new Map(now).set(place, change(now.get(place) ?? NONE));
      return new Map([...changed].slice(-MAX_PLACES));
    });
    this.#known.set(server, next);
  }
}

/** One that is nested beyond comparing is no definition to keep. */
function isComparable({ fingerprints }: ToolChange): boolean {
  return fingerprints.after !== '';
}

function isSameMap(one: ReadonlyMap<string, Definition>, other: ReadonlyMap<string, Definition>): boolean {
  return one.size === other.size && [...one].every(([name, it]) => isAlike(it, other.get(name)));
}
