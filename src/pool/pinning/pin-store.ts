import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type LockedReplace, withFileLock } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { type Definition, parseDefinition } from './definition.ts';

/** The pins of one server in one place. */
export type PlacePins = {
  /** The accepted definitions by tool name, first-sight ones included. */
  readonly accepted: ReadonlyMap<string, Definition>;
  /** Listed definitions that require acceptance. */
  readonly pending: ReadonlyMap<string, Definition>;
  /** Names of accepted tools that the list with the newest pending tool lacked: a new tool may be one of them renamed. */
  readonly gone?: ReadonlySet<string>;
  /** The limit was reached: an unknown tool may be a dropped one and requires acceptance. */
  readonly isFull?: true;
};

/** By place; the one that was changed last is at the end. */
export type ServerPins = ReadonlyMap<string, PlacePins>;

/** Storage of pins. Never throws: pins that cannot be stored are reported and kept in memory. */
export type PinStore = {
  /** Whether other processes can read what is stored. */
  readonly isLasting: boolean;
  /** The keys of all servers with pins. */
  servers(): readonly string[];
  read(server: string): ServerPins;
  /** Changes the current pins, which another process may have written since the last read, and returns the result. */
  update(server: string, change: (now: ServerPins) => ServerPins): ServerPins;
};

const NO_PINS: ServerPins = new Map();

/** Keeps pins until the process ends. */
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

export type FilePinOptions = {
  /** `read` writes nothing: changes last until the process ends. */
  readonly mode?: 'read' | 'write';
  /** Receives each read or write failure once, with its server. */
  readonly note?: (text: string, server: string) => void;
};

/**
 * One file per server, readable by its owner only and replaced atomically. Each change reads the file again under a lock,
 * so that two processes keep each other's pins. Synchronous, because a call waits for the result and files are small.
 */
export function filePinStore(directory: string, { mode = 'write', note }: FilePinOptions = {}): PinStore {
  const reported = new Set<string>();
  /** Pins of servers whose file must not or cannot be written. */
  const inMemory = memoryPinStore();
  const unwritable = new Set<string>();
  const report = (server: string, text: string) => {
    if (!reported.has(text)) note?.(text, server);
    reported.add(text);
  };
  const keep = (server: string, pins: ServerPins) => {
    unwritable.add(server);
    return inMemory.update(server, () => pins);
  };

  const load = (server: string): { readonly pins: ServerPins; readonly isWritable: boolean } => {
    const path = pathOf(directory, server);
    const text = readText(path);
    if (text === undefined) return { pins: NO_PINS, isWritable: true };
    if (typeof text !== 'string') {
      report(server, uncompared(server, `${path} cannot be read: ${text.fault}`));
      return { pins: NO_PINS, isWritable: false };
    }
    const file = parsePinFile(text);
    if (file.kind === 'pins' && file.server === server) return { pins: file.pins, isWritable: true };
    const fault = file.kind === 'pins' ? `the file belongs to server "${file.server}"` : file.fault;
    report(server, uncompared(server, `${path} cannot be used: ${fault}`));
    if (file.kind === 'newer' || mode === 'read') return { pins: NO_PINS, isWritable: false };
    keepBroken(path);
    return { pins: NO_PINS, isWritable: true };
  };

  const rewrite = (
    server: string,
    change: (pins: ServerPins) => ServerPins,
    replace: LockedReplace,
  ): ServerPins => {
    const { pins, isWritable } = load(server);
    const next = change(pins);
    if (!isWritable) return keep(server, next);
    replace(pathOf(directory, server), formatPinFile(server, next));
    return next;
  };

  return {
    isLasting: mode === 'write',
    servers() {
      const files = fileNames(directory).flatMap((name) => {
        const text = name.endsWith('.json') ? readText(join(directory, name)) : undefined;
        const file = typeof text === 'string' ? parsePinFile(text) : undefined;
        return file?.kind === 'pins' ? [file.server] : [];
      });
      return [...new Set([...files, ...unwritable])];
    },
    read: (server) => (unwritable.has(server) ? inMemory.read(server) : load(server).pins),
    update(server, change) {
      if (unwritable.has(server)) return inMemory.update(server, change);
      if (mode === 'read') return keep(server, change(load(server).pins));
      makeDirectory(directory);
      const lock = `${pathOf(directory, server)}.lock`;
      try {
        return withFileLock(lock, (replace) => rewrite(server, change, replace));
      } catch (cause) {
        report(
          server,
          `the accepted tools of "${server}" could not be saved and are kept for this session only: ${messageOf(cause)}`,
        );
        return keep(server, change(load(server).pins));
      }
    },
  };
}

/** A key may be any text, so that the file is named by its hash. */
function pathOf(directory: string, server: string): string {
  return join(directory, `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`);
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {
    // The write that follows reports the failure.
  }
}

function keepBroken(path: string): void {
  try {
    renameSync(path, `${path}.broken`);
  } catch {
    // The file is overwritten then.
  }
}

function readText(path: string): string | undefined | { readonly fault: string } {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    return isAbsent ? undefined : { fault: messageOf(cause) };
  }
}

function fileNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const FORMAT = 1;

/** The content of a pin file, or why it cannot be used; a file of a newer version must not be overwritten. */
type PinFile =
  | { readonly kind: 'pins'; readonly server: string; readonly pins: ServerPins }
  | { readonly kind: 'broken' | 'newer'; readonly fault: string };

function formatPinFile(server: string, pins: ServerPins): string {
  const places = [...pins].map(([place, { accepted, pending, gone, isFull }]) => ({
    place,
    ...(isFull && { isFull }),
    ...(gone && { gone: [...gone] }),
    accepted: [...accepted.values()],
    pending: [...pending.values()],
  }));
  return `${JSON.stringify({ format: FORMAT, server, places })}\n`;
}

/** A file with one bad definition is broken as a whole: a missing pin would let a changed tool pass as new. */
function parsePinFile(text: string): PinFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'broken', fault: 'the file is not valid JSON' };
  }
  if (!isRecord(value) || typeof value.format !== 'number') return broken('"format" is missing');
  if (value.format > FORMAT)
    return {
      kind: 'newer',
      fault: `its format is ${value.format}, but this version of Toolplane supports ${FORMAT}; update Toolplane`,
    };
  if (value.format !== FORMAT) return broken(`its format ${value.format} is unknown`);
  if (typeof value.server !== 'string' || !Array.isArray(value.places))
    return broken('"server" or "places" is missing');
  const pins = new Map<string, PlacePins>();
  for (const item of value.places as unknown[]) {
    const accepted = isRecord(item) ? definitions(item.accepted) : undefined;
    const pending = isRecord(item) ? definitions(item.pending) : undefined;
    if (!isRecord(item) || typeof item.place !== 'string' || !accepted || !pending) {
      return broken('"places" contains a malformed entry');
    }
    const gone = Array.isArray(item.gone) ? item.gone.filter((it) => typeof it === 'string') : [];
    pins.set(item.place, {
      accepted,
      pending,
      ...(gone.length > 0 && { gone: new Set(gone) }),
      ...(item.isFull === true && { isFull: true }),
    });
  }
  return { kind: 'pins', server: value.server, pins };
}

function broken(fault: string): PinFile {
  return { kind: 'broken', fault };
}

function definitions(value: unknown): ReadonlyMap<string, Definition> | undefined {
  if (!Array.isArray(value)) return undefined;
  const read = value.map(parseDefinition);
  return read.every((it) => it !== undefined) ? new Map(read.map((it) => [it.name, it])) : undefined;
}

function uncompared(server: string, reason: string): string {
  return `the tools that server "${server}" lists now are accepted without comparing them with earlier ones (review them with \`toolplane tools -s ${server}\`): ${reason}`;
}
