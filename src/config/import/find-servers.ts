import { isRecord } from '../../base/json-value.ts';
import { pluralize, visibleText } from '../../base/text/display-text.ts';
import { formatKeyPath, limitDiagnostics } from '../files/diagnostics.ts';
import { MAX_DEPTH, MAX_VALUES } from '../files/json-tree.ts';
import { BOM, parseJsonc } from '../files/parse-jsonc.ts';
import { readText } from '../files/read-text.ts';
import type { ConfigDiagnostic, Position } from '../model.ts';
import { validateEntry, validateServerName } from '../sources/validate-entry.ts';
import {
  convertEntry,
  type ImportContext,
  type Imported,
  type ImportedServer,
  type ImportFile,
  type ImportProgram,
  type RawServer,
} from './convert-entry.ts';

/** An existing file of another program, and the servers in it. */
export type FoundFile = Imported & { readonly tool: ImportProgram; readonly place: ImportFile };

/** Maximum size of a file of another program; some programs keep more than servers in their user file. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Reads the files of each program; never rejects, and writes and starts nothing. */
export async function findServers(
  tools: readonly ImportProgram[],
  context: ImportContext,
): Promise<FoundFile[]> {
  const looked = tools.flatMap((tool) =>
    tool.places(context).map(async (place): Promise<FoundFile | undefined> => {
      const { path, from } = place;
      const read = readText(
        path,
        from === 'project' ? { within: context.project } : { maxBytes: MAX_FILE_BYTES },
      );
      if (read.state === 'absent') return undefined;
      if (read.state === 'read')
        return { tool, place, ...(await readImportFile(tool, read.text, place, context)) };
      const fault = { level: 'error', scope: from, label: visibleText(path), message: read.fault } as const;
      return { tool, place, servers: [], faults: [fault] };
    }),
  );
  return (await Promise.all(looked)).filter((it) => it !== undefined);
}

/** Converts the servers of another program's file; each server is converted separately. */
export async function readImportFile(
  tool: ImportProgram,
  text: string,
  place: ImportFile,
  context: ImportContext,
): Promise<Imported> {
  const file = await parseFile(text, tool.format);
  if (file.kind === 'unusable') {
    const { fault, position } = file;
    return { servers: [], faults: [faultAt(place, { from: place.from, message: fault, position })] };
  }
  const taken = tool.servers(file.value, place, context).map((raw) => {
    const position = file.locate(raw.way);
    const read = readServer(tool, raw, place, context);
    if (typeof read !== 'string') return { server: { ...read, ...(position && { position }) } };
    return { fault: faultAt(place, { from: raw.from, way: raw.way, message: read, position }) };
  });
  return {
    servers: taken.flatMap(({ server }) => (server ? [server] : [])),
    faults: limitDiagnostics(taken.flatMap(({ fault }) => (fault ? [fault] : []))),
  };
}

/** The server, or why it is invalid. */
function readServer(
  tool: ImportProgram,
  { name, value, from, isOff: isOffBeside = false }: RawServer,
  place: ImportFile,
  context: ImportContext,
): ImportedServer | string {
  if (!isRecord(value)) return 'must be an object';
  const rewriteNotes: string[] = [];
  const rewriteFaults: string[] = [];
  const rewritten = mapTexts(value, (text) => {
    const { text: ours, notes = [], fault } = tool.rewrite(text, place, context);
    rewriteNotes.push(...notes);
    if (fault !== undefined) rewriteFaults.push(fault);
    return ours;
  });
  const { entry, notes, faults, isOff } = convertEntry(
    rewritten as Record<string, unknown>,
    tool.conversions,
  );
  const fault = faults[0] ?? rewriteFaults[0] ?? validateServerName(name) ?? validateEntry(entry)?.message;
  if (fault !== undefined) return fault;
  return { name, entry, from, notes: limitNotes([...notes, ...rewriteNotes]), isOff: isOff || isOffBeside };
}

/** Maximum number of notes per server. */
const MAX_NOTES = 20;

function limitNotes(notes: readonly string[]): readonly string[] {
  const all = [...new Set(notes)];
  const more = all.length - MAX_NOTES;
  return more > 0 ? [...all.slice(0, MAX_NOTES), `and ${pluralize(more, 'more note')}`] : all;
}

function mapTexts(value: unknown, turn: (text: string) => string): unknown {
  if (typeof value === 'string') return turn(value);
  if (Array.isArray(value)) return value.map((it) => mapTexts(it, turn));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, mapTexts(it, turn)]));
}

type FileProblem = {
  readonly from: ImportFile['from'];
  readonly way?: readonly (string | number)[];
  readonly message: string;
  readonly position?: Position | undefined;
};

function faultAt({ path }: ImportFile, { from, way, message, position }: FileProblem): ConfigDiagnostic {
  return {
    level: 'error',
    scope: from,
    label: visibleText(path),
    ...(way && { key: formatKeyPath(way) }),
    ...(position && { position }),
    message,
  };
}

/** A file's content as an object, or why it is unusable. */
type ParsedFile =
  | {
      readonly kind: 'read';
      readonly value: Readonly<Record<string, unknown>>;
      locate(way: readonly (string | number)[]): Position | undefined;
    }
  | { readonly kind: 'unusable'; readonly fault: string; readonly position?: Position };

/** Parses a file; faults contain nothing of the text. */
async function parseFile(text: string, format: ImportProgram['format']): Promise<ParsedFile> {
  return format === 'json' ? parseJson(text) : parseToml(text);
}

function parseJson(text: string): ParsedFile {
  const { value, faults, locate } = parseJsonc(text);
  const [fault] = faults;
  if (fault) return { kind: 'unusable', fault: fault.message, position: fault.position };
  // Some programs create empty files.
  const object = value === undefined ? {} : value;
  return isRecord(object)
    ? { kind: 'read', value: object, locate }
    : { kind: 'unusable', fault: 'not a JSON object' };
}

async function parseToml(text: string): Promise<ParsedFile> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    const value = parse(text.replace(BOM, ''));
    if (isTooMuch(value)) return { kind: 'unusable', fault: 'too large or too deeply nested' };
    return { kind: 'read', value, locate: () => undefined };
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const { line, column } = thrown;
    return { kind: 'unusable', fault: 'not valid TOML', position: { line, column } };
  }
}

/** Applies the limits of JSON files, so that code may recurse over the value. */
function isTooMuch(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    values += level.length;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return true;
    level = level.flatMap((it) => (typeof it === 'object' && it !== null ? Object.values(it) : []));
  }
  return false;
}
