import { isRecord } from '../../base/is-record.ts';
import { visibleText } from '../../base/visible-text.ts';
import type { ConfigFault, Position } from '../model.ts';
import { entryFault } from '../sources/entry-fault.ts';
import { fewFaults } from '../sources/few-faults.ts';
import { keyText } from '../sources/key-text.ts';
import { nameFault } from '../sources/server-name.ts';
import type {
  ForeignPlace,
  ForeignServer,
  ForeignTool,
  ForeignWorld,
  Imported,
  RawServer,
} from './foreign.ts';
import { parseFile } from './parse-file.ts';
import { turnEntry } from './turns.ts';

/** What the text of another program's file comes to in our own form: each server on its own, and nothing is started. */
export async function readForeign(
  tool: ForeignTool,
  text: string,
  place: ForeignPlace,
  world: ForeignWorld,
): Promise<Imported> {
  const file = await parseFile(text, tool.format);
  if (file.kind === 'unusable') {
    const { fault, position } = file;
    return { servers: [], faults: [faultAt(place, { from: place.from, message: fault, position })] };
  }
  const taken = tool.servers(file.value, place, world).map((raw) => {
    const position = file.locate(raw.way);
    const read = readServer(tool, raw, place, world);
    if (typeof read !== 'string') return { server: { ...read, ...(position && { position }) } };
    return { fault: faultAt(place, { from: raw.from, way: raw.way, message: read, position }) };
  });
  return {
    servers: taken.flatMap(({ server }) => (server ? [server] : [])),
    faults: fewFaults(taken.flatMap(({ fault }) => (fault ? [fault] : []))),
  };
}

/** The server, or what is wrong with it. */
function readServer(
  tool: ForeignTool,
  { name, value, from, isOff: isOffBeside = false }: RawServer,
  place: ForeignPlace,
  world: ForeignWorld,
): ForeignServer | string {
  if (!isRecord(value)) return 'it must be an object';
  const ofText: string[] = [];
  const unsayable: string[] = [];
  const rewritten = mapTexts(value, (text) => {
    const { text: ours, notes = [], fault } = tool.rewrite(text, place, world);
    for (const note of notes) ofText.push(note);
    if (fault !== undefined) unsayable.push(fault);
    return ours;
  });
  const { entry, notes, faults, isOff } = turnEntry(rewritten as Record<string, unknown>, tool.turns);
  const fault = faults[0] ?? unsayable[0] ?? nameFault(name) ?? entryFault(name, entry)?.message;
  if (fault !== undefined) return fault;
  return { name, entry, from, notes: fewNotes([...notes, ...ofText]), isOff: isOff || isOffBeside };
}

/** Nobody reads more of one server. */
const MOST_NOTES = 20;

function fewNotes(notes: readonly string[]): readonly string[] {
  const all = [...new Set(notes)];
  const more = all.length - MOST_NOTES;
  return more > 0 ? [...all.slice(0, MOST_NOTES), `and ${more} more like these`] : all;
}

function mapTexts(value: unknown, turn: (text: string) => string): unknown {
  if (typeof value === 'string') return turn(value);
  if (Array.isArray(value)) return value.map((it) => mapTexts(it, turn));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, mapTexts(it, turn)]));
}

type Told = {
  readonly from: ForeignPlace['from'];
  readonly way?: readonly (string | number)[];
  readonly message: string;
  readonly position?: Position | undefined;
};

function faultAt({ path }: ForeignPlace, { from, way, message, position }: Told): ConfigFault {
  return {
    level: 'error',
    scope: from,
    label: visibleText(path),
    ...(way && { key: keyText(way) }),
    ...(position && { position }),
    message,
  };
}
