import { isRecord } from '../../base/is-record.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { deceptive, type Finding, sayFinding } from './deceptive.ts';
import type { Definition } from './definition.ts';
import { isPlain } from './hidden.ts';
import { shown } from './shown.ts';

/** A trick, and in which part of a tool's definition. */
export type ToolFinding = Finding & {
  /** As people are told: `its description`, `the description of the parameter "a.b"`. */
  readonly where: string;
};

/** Levels a definition may have; no real one comes near, and one that does is not walked. */
const MAX_DEPTH = 100;

/** Everything deceptive in the name, the texts and the schemas of a tool: all of it is read by models. */
export function toolFindings(tool: ListedTool | Definition): ToolFinding[] {
  const { name, title, description, annotations } = tool;
  const found: ToolFinding[] = [];
  const look: Look = (text, is, where) => {
    if (typeof text !== 'string' || isPlain(text)) return;
    for (const finding of deceptive(text, is)) found.push({ ...finding, where: where() });
  };
  look(name, 'name', () => 'its name');
  look(title, 'name', () => 'its title');
  look(annotations?.title, 'name', () => 'its title');
  look(description, 'text', () => 'its description');
  lookInto(tool.inputSchema, 'parameter', '', 0, look);
  if (tool.outputSchema) lookInto(tool.outputSchema, 'result member', '', 0, look);
  return found;
}

/** One sentence about all of them; undefined without any. */
export function sayFindings(findings: readonly ToolFinding[]): string | undefined {
  const places = [...Map.groupBy(findings, ({ where }) => where)];
  if (places.length === 0) return undefined;
  const said = places
    .slice(0, MAX_PLACES)
    .map(([where, all]) => `${where} has ${all.map(sayFinding).join(' and ')}`);
  const more = places.length - MAX_PLACES;
  return [...said, ...(more > 0 ? [`so do ${more} more places`] : [])].join('; ');
}

const MAX_PLACES = 3;

/** Whether a value has more levels than anybody needs; comparing one that deep could take the process along. */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  for (const name in value) {
    if (isTooDeep((value as Record<string, unknown>)[name], left - 1)) return true;
  }
  return false;
}

type Look = (text: string | undefined, is: 'name' | 'text', where: () => string) => void;

/** `path` is the parameter the schema is about; the empty one is the whole. */
function lookInto(value: unknown, what: string, path: string, depth: number, look: Look): void {
  if (depth > MAX_DEPTH) return;
  const about = () => (path === '' ? `the ${what}s' schema` : `the ${what} "${shown(path)}"`);
  if (typeof value === 'string') look(value, 'text', about);
  if (Array.isArray(value)) {
    for (const item of value) lookInto(item, what, path, depth + 1, look);
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'description' && typeof member === 'string') {
      look(member, 'text', () => `the description of ${about()}`);
    } else if (key === 'properties' && isRecord(member)) {
      for (const [name, schema] of Object.entries(member)) {
        const inner = path === '' ? name : `${path}.${name}`;
        look(name, 'name', () => `the name of the ${what} "${shown(inner)}"`);
        lookInto(schema, what, inner, depth + 1, look);
      }
    } else {
      look(key, 'text', about);
      lookInto(member, what, path, depth + 1, look);
    }
  }
}
