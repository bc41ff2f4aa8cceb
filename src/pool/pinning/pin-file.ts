import { isRecord } from '../../base/json-value.ts';
import { type Definition, readDefinition } from './definition.ts';
import type { PlacePins, ServerPins } from './pin-store.ts';

const FORMAT = 1;

/** What a file of pins says, or why it cannot be used; one of a newer version must not be written over. */
export type PinFile =
  | { readonly kind: 'pins'; readonly server: string; readonly pins: ServerPins }
  | { readonly kind: 'broken' | 'newer'; readonly fault: string };

export function pinFileText(server: string, pins: ServerPins): string {
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
export function readPinFile(text: string): PinFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'broken', fault: 'it is no JSON' };
  }
  if (!isRecord(value) || typeof value.format !== 'number') return broken('it has no "format"');
  if (value.format > FORMAT)
    return { kind: 'newer', fault: `its format is ${value.format}, newer than ${FORMAT}` };
  if (value.format !== FORMAT) return broken(`its format ${value.format} is unknown`);
  if (typeof value.server !== 'string' || !Array.isArray(value.places)) return broken('it names no server');
  const pins = new Map<string, PlacePins>();
  for (const item of value.places as unknown[]) {
    const accepted = isRecord(item) ? definitions(item.accepted) : undefined;
    const pending = isRecord(item) ? definitions(item.pending) : undefined;
    if (!isRecord(item) || typeof item.place !== 'string' || !accepted || !pending) {
      return broken('one of its definitions cannot be read');
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
  const read = value.map(readDefinition);
  return read.every((it) => it !== undefined) ? new Map(read.map((it) => [it.name, it])) : undefined;
}
