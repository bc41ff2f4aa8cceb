import type { ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';
import { isAlike } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';
import { cut, type Difference, plain } from './difference.ts';
import { schemaDifferences } from './schema-differences.ts';
import { shown } from './shown.ts';
import { sayWordChanges } from './words.ts';

/** What a person would want to know, the gravest first; none for definitions with one fingerprint, else at least one. */
export function differences(before: ListedTool | Definition, after: ListedTool | Definition): Difference[] {
  const [old, fresh] = [definitionOf(before), definitionOf(after)];
  if (isAlike(old, fresh)) return [];
  const found = [
    ...named('name', old.name, fresh.name, 'high'),
    ...description(old.description, fresh.description),
    ...named('title', old.title, fresh.title, 'low'),
    ...annotations(old.annotations, fresh.annotations),
    ...schemaDifferences('parameters', old.inputSchema, fresh.inputSchema),
    ...schemaDifferences('result', old.outputSchema, fresh.outputSchema),
    ...metaMembers(old._meta, fresh._meta),
  ];
  return found.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
}

const RANK: Readonly<Record<Difference['severity'], number>> = { high: 0, medium: 1, low: 2 };

function named(
  part: string,
  before: string | undefined,
  after: string | undefined,
  severity: Difference['severity'],
): Difference[] {
  if (before === after) return [];
  return [{ part, severity, text: `${part} ${quoted(before)} → ${quoted(after)}` }];
}

function description(before: string | undefined, after: string | undefined): Difference[] {
  if (before === after) return [];
  return [
    {
      part: 'description',
      severity: 'high',
      text: `description: ${sayWordChanges(before ?? '', after ?? '')}`,
    },
  ];
}

/** Any claim that comes or goes matters: one that goes was relied on, one that comes may spare a question. */
function annotations(before: ToolAnnotations = {}, after: ToolAnnotations = {}): Difference[] {
  return members(before, after).map(([name, old, fresh]) => ({
    part: `annotations.${name}`,
    severity: name.endsWith('Hint') ? 'high' : 'low',
    text: `${shown(name)} ${plain(old, 'unset')} → ${plain(fresh, 'gone')}`,
  }));
}

function metaMembers(before: Definition['_meta'] = {}, after: Definition['_meta'] = {}): Difference[] {
  return members(before, after).map(([name, old, fresh]) => ({
    part: `_meta.${name}`,
    severity: 'high',
    text: `${shown(name)} ${plain(old, 'unset')} → ${plain(fresh, 'gone')}`,
  }));
}

type Members = ReadonlyMap<string, unknown>;

function members(before: object, after: object): [string, unknown, unknown][] {
  const old: Members = new Map(Object.entries(before));
  const fresh: Members = new Map(Object.entries(after));
  const names = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return names.flatMap((name): [string, unknown, unknown][] => {
    const isSame = old.has(name) === fresh.has(name) && isAlike(old.get(name), fresh.get(name));
    return isSame ? [] : [[name, old.get(name), fresh.get(name)]];
  });
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'none' : `"${cut(text)}"`;
}
