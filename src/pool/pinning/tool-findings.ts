import { isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { deceptive, type Finding, sayFinding } from './deceptive.ts';
import type { Definition } from './definition.ts';
import { cut, memberPath } from './difference.ts';
import { isPlain } from './hidden.ts';

/** A trick, and in which part of a tool's definition. */
export type ToolFinding = Finding & {
  /** As people are told: `its description`, `the description of the parameter "a.b"`. */
  readonly where: string;
};

/** More are not looked for: a person reads three. */
const MOST_FINDINGS = 20;

/**
 * What is deceptive in the name, the texts and the schemas of a tool, all of which models read: as much of it as people
 * need to know. The definition must be one of bounded depth.
 */
export function toolFindings(tool: ListedTool | Definition, which: 'all' | 'first' = 'all'): ToolFinding[] {
  const { name, title, description, annotations } = tool;
  const most = which === 'all' ? MOST_FINDINGS : 1;
  const found: ToolFinding[] = [];
  const look: Look = (text, is, where) => {
    if (typeof text !== 'string' || found.length >= most || isPlain(text)) return;
    for (const finding of deceptive(text, is)) found.push({ ...finding, where: where() });
  };
  look(name, 'name', () => 'its name');
  look(title, 'name', () => 'its title');
  look(annotations?.title, 'name', () => 'its title');
  look(description, 'text', () => 'its description');
  lookInto(tool.inputSchema, 'parameter', '', look);
  if (tool.outputSchema) lookInto(tool.outputSchema, 'result member', '', look);
  return found;
}

/** One sentence about all of them; undefined without any. */
export function sayFindings(findings: readonly ToolFinding[]): string | undefined {
  const places = [...Map.groupBy(findings, ({ where }) => where)];
  if (places.length === 0) return undefined;
  const said = places.slice(0, MAX_PLACES).map(([where, all]) => {
    const kinds = all.slice(0, MAX_KINDS).map(sayFinding);
    return `${where} has ${[...kinds, ...(all.length > MAX_KINDS ? ['more'] : [])].join(' and ')}`;
  });
  const more = places.length - MAX_PLACES;
  const count = findings.length < MOST_FINDINGS ? `${more}` : `at least ${more}`;
  return [...said, ...(more > 0 ? [`so do ${count} more places`] : [])].join('; ');
}

const MAX_PLACES = 3;
const MAX_KINDS = 3;

type Look = (text: string | undefined, is: 'name' | 'text', where: () => string) => void;

/** `path` is the parameter the schema is about; the empty one is the whole. */
function lookInto(value: unknown, what: string, path: string, look: Look): void {
  const about = () => (path === '' ? `the ${what}s' schema` : `the ${what} "${cut(path)}"`);
  if (typeof value === 'string') look(value, 'text', about);
  if (Array.isArray(value)) {
    for (const item of value) lookInto(item, what, path, look);
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'description' && typeof member === 'string') {
      look(member, 'text', () => `the description of ${about()}`);
    } else if (key === 'properties' && isRecord(member)) {
      for (const [name, schema] of Object.entries(member)) {
        const inner = memberPath(path, name);
        look(name, 'name', () => `the name of the ${what} "${cut(inner)}"`);
        lookInto(schema, what, inner, look);
      }
    } else {
      look(key, 'text', about);
      lookInto(member, what, path, look);
    }
  }
}
