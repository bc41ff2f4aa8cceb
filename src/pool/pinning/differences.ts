import { isEqualJson } from '../../base/json-value.ts';
import type { ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';
import { canonicalValue, type Definition, definitionOf, isEquivalent } from './definition.ts';

import { type Difference, excerpt, formatValue, memberPath } from './difference.ts';
import { type Effort, fullEffort, MOST_CELLS_A_TOOL } from './effort.ts';
import { gather, type Tell } from './gather.ts';
import { schemaDifferences } from './schema-differences.ts';
import { sayWordChanges } from './words.ts';

/** What a person would want to know, the gravest first; none for definitions with one fingerprint, else at least one. */
export function differences(before: ListedTool | Definition, after: ListedTool | Definition): Difference[] {
  const [old, fresh] = [before, after].map((it) => canonicalValue(definitionOf(it)) as Definition);
  return old && fresh ? orderedDifferences(old, fresh, fullEffort()) : [];
}

/** The same for definitions that are ordered already; what there is no effort left for is counted. */
export function orderedDifferences(old: Definition, fresh: Definition, effort: Effort): Difference[] {
  if (isEqualJson(old, fresh)) return [];
  const own = { ...effort, cells: Math.min(effort.cells, MOST_CELLS_A_TOOL) };
  const given = own.cells;
  const found = gather(own, (tell) => {
    if (old.name !== fresh.name) tell('name', 'high', () => renaming('name', old.name, fresh.name));
    if (old.description !== fresh.description) {
      const [one = '', other = ''] = [old.description, fresh.description];
      tell('description', 'high', () => `description: ${sayWordChanges(one, other, own)}`);
    }
    if (old.title !== fresh.title) tell('title', 'low', () => renaming('title', old.title, fresh.title));
    annotations(old.annotations, fresh.annotations, tell);
    schemaDifferences('parameters', old.inputSchema, fresh.inputSchema, { tell, effort: own });
    schemaDifferences('result', old.outputSchema, fresh.outputSchema, { tell, effort: own });
    metaMembers(old._meta, fresh._meta, tell);
  });
  effort.cells -= given - own.cells;
  effort.texts = own.texts;
  return found;
}

function renaming(part: string, before: string | undefined, after: string | undefined): string {
  return `${part} ${quoted(before)} → ${quoted(after)}`;
}

/** Any claim that comes or goes matters: one that goes was relied on, one that comes may spare a question. */
function annotations(before: ToolAnnotations = {}, after: ToolAnnotations = {}, tell: Tell): void {
  for (const [name, old, fresh] of members(before, after)) {
    const severity = name.endsWith('Hint') ? 'high' : 'low';
    tell(memberPath('annotations', name), severity, () => becoming(name, old, fresh));
  }
}

function metaMembers(before: Definition['_meta'] = {}, after: Definition['_meta'] = {}, tell: Tell): void {
  for (const [name, old, fresh] of members(before, after)) {
    tell(memberPath('_meta', name), 'high', () => becoming(name, old, fresh));
  }
}

function becoming(name: string, old: unknown, fresh: unknown): string {
  return `${excerpt(name)} ${formatValue(old, 'unset')} → ${formatValue(fresh, 'gone')}`;
}

type Members = ReadonlyMap<string, unknown>;

function members(before: object, after: object): [string, unknown, unknown][] {
  const old: Members = new Map(Object.entries(before));
  const fresh: Members = new Map(Object.entries(after));
  const names = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return names.flatMap((name): [string, unknown, unknown][] => {
    const isSame = old.has(name) === fresh.has(name) && isEquivalent(old.get(name), fresh.get(name));
    return isSame ? [] : [[name, old.get(name), fresh.get(name)]];
  });
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'none' : `"${excerpt(text)}"`;
}
