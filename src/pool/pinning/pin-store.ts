import type { Definition } from './definition.ts';

/** What is remembered of one server in one place. */
export type PlacePins = {
  /** The definitions somebody accepted, or that were there at first sight, by the tool's name. */
  readonly accepted: ReadonlyMap<string, Definition>;
  /** What was listed instead and is not accepted yet. */
  readonly pending: ReadonlyMap<string, Definition>;
  /** Names of accepted tools that the list with the newest pending tool lacked: a new tool may be one of them renamed. */
  readonly gone?: ReadonlySet<string>;
  /** There was no room for all: what is not known may have been forgotten, so that it is asked about. */
  readonly isFull?: true;
};

/** By place, the one that was pinned last at the end. */
export type ServerPins = ReadonlyMap<string, PlacePins>;

/** Where pins are kept. Nothing here throws: what cannot be kept is told of and lasts as long as the process. */
export type PinStore = {
  /** Whether another process finds there what this one leaves. */
  readonly isLasting: boolean;
  /** The keys of all servers there are pins of. */
  servers(): readonly string[];
  read(server: string): ServerPins;
  /** Changes what is there now, which others may have written since it was read; gives what is there then. */
  update(server: string, change: (now: ServerPins) => ServerPins): ServerPins;
};

export const NO_PINS: ServerPins = new Map();

/** Pins for as long as the process runs. */
export function memoryPinStore(): PinStore {
  const all = new Map<string, ServerPins>();
  const read = (server: string) => all.get(server) ?? NO_PINS;
  return {
    isLasting: false,
    servers: () => [...all.keys()],
    read,
    update(server, change) {
      const next = change(read(server));
      all.set(server, next);
      return next;
    },
  };
}
