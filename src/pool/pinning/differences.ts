import { isEqualJson, isRecord } from '../../base/json-value.ts';
import { sliceText, truncate } from '../../base/text/display-text.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { canonicalValue, type Definition, definitionOf } from './definition.ts';

import { showHidden } from './hidden-text.ts';

/** A changed part of a tool's definition. */
export type Difference = {
  /** The changed part, such as `description`, `annotations.readOnlyHint` or `parameters.filter.owner`; `…` if several are summarized. */
  readonly part: string;
  /** How much the change can affect a call: `high` for descriptions and for annotations that permission decisions use. */
  readonly severity: Severity;
  /** One line of bounded length; hidden characters are shown as code points. */
  readonly text: string;
  /** Number of differences that this item summarizes, if more than one. */
  readonly count?: number;
};

type Severity = (typeof SEVERITIES)[number];
const SEVERITIES = ['high', 'medium', 'low'] as const;

/** Differences listed per severity; the rest are counted. */
const MAX_LISTED = 20;
/** Differences in the one-line summary. */
const MAX_SUMMARIZED = 6;

/** The differences between two definitions, most severe first; none exactly if their fingerprints are equal. */
export function differences(before: ListedTool | Definition, after: ListedTool | Definition): Difference[] {
  const [old, now] = [before, after].map((it) => canonicalValue(definitionOf(it)) as Definition);
  return canonicalDifferences(old as Definition, now as Definition);
}

/** As `differences`, for definitions that are canonical already. */
export function canonicalDifferences(old: Definition, now: Definition): Difference[] {
  const found: Difference[] = [];
  const counts = { high: 0, medium: 0, low: 0 };
  const report: Report = (part, severity, text) => {
    counts[severity]++;
    if (counts[severity] <= MAX_LISTED) found.push({ part, severity, text: text() });
  };
  compareMembers(old, now, report);
  if (found.length === 0 && !isEqualJson(old, now)) {
    report('…', 'low', () => 'other details of its definition changed');
  }
  for (const severity of SEVERITIES) {
    const count = counts[severity] - MAX_LISTED;
    if (count > 0) found.push({ part: '…', severity, text: `${count} more ${severity} changes`, count });
  }
  const rank = ({ severity }: Difference) => SEVERITIES.indexOf(severity);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** The differences on one line: the first ones, then the number of the others. */
export function formatDifferences(all: readonly Difference[]): string {
  const shown = all.slice(0, MAX_SUMMARIZED).map(({ text }) => text);
  const more = all.slice(MAX_SUMMARIZED).reduce((sum, { count = 1 }) => sum + count, 0);
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A text on one line of at most `max` characters, with hidden characters shown. */
export function excerpt(text: string, max = 80): string {
  const line = showHidden(sliceText(text, max * 4));
  return text.length > max * 4 ? `${sliceText(line, max)}…` : truncate(line, max);
}

/** The path of a member; a path beyond the length limit is not extended. */
export function memberPath(path: string, name: string, separator = '.'): string {
  if (path.length > MAX_PATH) return path;
  return path === '' && separator === '.'
    ? truncate(name, MAX_PATH)
    : `${path}${separator}${truncate(name, MAX_PATH)}`;
}

const MAX_PATH = 200;

/** Receives a difference; its text is computed only if it will be shown. */
type Report = (part: string, severity: Severity, text: () => string) => void;

function compareMembers(old: Definition, now: Definition, report: Report): void {
  const change = (part: string, severity: Severity, name: string, before: unknown, after: unknown) =>
    report(part, severity, () => `${excerpt(name)} ${formatChange(before, after)}`);
  if (old.name !== now.name) change('name', 'high', 'name', old.name, now.name);
  if (old.description !== now.description) {
    report('description', 'high', () => `description: ${textChange(old.description, now.description)}`);
  }
  if (old.title !== now.title) change('title', 'low', 'title', old.title, now.title);
  // A removed hint may have been relied on, and an added one may suppress an approval request.
  forEachChange(old.annotations, now.annotations, (name, before, after) =>
    change(memberPath('annotations', name), name.endsWith('Hint') ? 'high' : 'low', name, before, after),
  );
  forEachChange(old._meta, now._meta, (name, before, after) =>
    change(memberPath('_meta', name), 'high', name, before, after),
  );
  compareRoots('parameters', old.inputSchema, now.inputSchema, report);
  compareRoots('result', old.outputSchema, now.outputSchema, report);
}

function compareRoots(root: 'parameters' | 'result', old: unknown, now: unknown, report: Report): void {
  if (old === undefined || now === undefined) {
    if (old !== now) report(root, 'low', () => `schema of its ${root} ${formatChange(old, now)}`);
    return;
  }
  const member = root === 'parameters' ? 'parameter' : 'result member';
  compareSchemas(old, now, '', (path, severity, text) => {
    const subject = path === '' ? `its ${root}` : `${member} ${excerpt(path)}`;
    // Models fill in parameters; they only read results.
    report(
      path === '' ? root : `${root}.${path}`,
      root === 'result' ? 'low' : severity,
      () => `${subject} ${text()}`,
    );
  });
}

/** Reports the differences of two schemas by the parameter they describe: `filter.owner`, `rows[].id`, `#Definition`. */
function compareSchemas(old: unknown, now: unknown, path: string, report: Report): void {
  if (!isRecord(old) || !isRecord(now)) {
    if (!isEqualJson(old, now)) report(path, 'medium', () => formatChange(old, now));
    return;
  }
  forEachChange(old, now, (keyword, before, after) => {
    const separator = SCHEMA_MAPS.get(keyword);
    if (separator !== undefined) {
      forEachChange(before, after, (name, one, other) => {
        const inner = memberPath(path, name, separator);
        if (one !== undefined && other !== undefined) compareSchemas(one, other, inner, report);
        else if (one !== undefined) report(inner, 'medium', () => 'removed');
        else report(inner, separator === '.' ? 'high' : 'medium', () => describeAdded(name, other, now));
      });
    } else if (keyword === 'required') compareRequired(old, now, path, report);
    else if (keyword === 'items') compareSchemas(before, after, `${path}[]`, report);
    else if (
      ALTERNATIVES.has(keyword) &&
      Array.isArray(before) &&
      Array.isArray(after) &&
      before.length === after.length
    ) {
      for (const [at, schema] of before.entries()) compareSchemas(schema, after[at], path, report);
    } else if (keyword === 'enum') {
      report(path, 'medium', () => `allowed values: ${enumChange(before, after)}`);
    } else if (keyword === 'description' || keyword === 'title') {
      report(path, 'high', () => `${keyword}: ${textChange(before, after)}`);
    } else {
      const severity = MAJOR.has(keyword) ? 'medium' : 'low';
      report(path, severity, () => `${excerpt(keyword)} ${formatChange(before, after)}`);
    }
  });
}

/** Keywords that hold schemas by name, and how the name is joined to the path. */
const SCHEMA_MAPS: ReadonlyMap<string, string> = new Map([
  ['properties', '.'],
  ['$defs', '#'],
  ['definitions', '#'],
  ['patternProperties', '#'],
]);
const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);
/** Keywords that decide what a parameter means; changes of others are minor. */
const MAJOR: ReadonlySet<string> = new Set(
  'type const default format pattern $ref additionalProperties anyOf oneOf allOf'.split(' '),
);

function compareRequired(
  old: Record<string, unknown>,
  now: Record<string, unknown>,
  path: string,
  report: Report,
): void {
  const [before, after] = [namesIn(old.required), namesIn(now.required)];
  for (const name of new Set([...before, ...after])) {
    // A parameter that was added or removed is reported as such elsewhere.
    const isInBoth = hasProperty(old, name) === hasProperty(now, name);
    if (before.has(name) === after.has(name) || !isInBoth) continue;
    const inner = memberPath(path, name);
    if (after.has(name)) report(inner, 'high', () => 'became required');
    else report(inner, 'low', () => 'became optional');
  }
}

function describeAdded(name: string, schema: unknown, parent: Record<string, unknown>): string {
  const required = namesIn(parent.required).has(name) ? ' (required)' : '';
  const description = isRecord(schema) ? schema.description : undefined;
  return `added${required}${typeof description === 'string' ? `: "${excerpt(description)}"` : ''}`;
}

/** Calls `report` for each member that is not equal in both; a member that is missing is undefined. */
function forEachChange(
  before: unknown,
  after: unknown,
  report: (name: string, before: unknown, after: unknown) => void,
): void {
  const [old, now] = [before, after].map((it) => new Map(isRecord(it) ? Object.entries(it) : []));
  for (const name of new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    const [one, other] = [old?.get(name), now?.get(name)];
    if (!isEqualJson(one, other)) report(name, one, other);
  }
}

function namesIn(list: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(list) ? list.filter((it) => typeof it === 'string') : []);
}

function hasProperty({ properties }: Record<string, unknown>, name: string): boolean {
  return isRecord(properties) && Object.hasOwn(properties, name);
}

function enumChange(before: unknown, after: unknown): string {
  const [old, now] = [before, after].map(
    (list) => new Set(Array.isArray(list) ? list.map((it) => JSON.stringify(it)) : []),
  );
  const added = [...(now ?? [])].filter((it) => !old?.has(it));
  const removed = [...(old ?? [])].filter((it) => !now?.has(it));
  const parts = [
    ...(added.length > 0 ? [`added ${excerpt(added.join(', '))}`] : []),
    ...(removed.length > 0 ? [`removed ${excerpt(removed.join(', '))}`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : formatChange(before, after);
}

function formatChange(before: unknown, after: unknown): string {
  const format = (value: unknown) => (value === undefined ? 'none' : excerpt(JSON.stringify(value)));
  return `${format(before)} → ${format(after)}`;
}

/** The words that were added and removed: sentences that only one text has, without their common first and last words. */
function textChange(before: unknown, after: unknown): string {
  const [old, now] = [before, after].map((it) => (typeof it === 'string' ? sentencesIn(it) : []));
  const [oldSet, nowSet] = [new Set(old), new Set(now)];
  const removed = wordsIn((old ?? []).filter((it) => !nowSet.has(it)).join(' '));
  const added = wordsIn((now ?? []).filter((it) => !oldSet.has(it)).join(' '));
  let start = 0;
  while (start < Math.min(removed.length, added.length) && removed[start] === added[start]) start++;
  let end = 0;
  const rest = Math.min(removed.length, added.length) - start;
  while (end < rest && removed.at(-1 - end) === added.at(-1 - end)) end++;
  const parts = [
    ...quotedWords('added', added.slice(start, added.length - end)),
    ...quotedWords('removed', removed.slice(start, removed.length - end)),
  ];
  return parts.length > 0 ? parts.join(', ') : 'only whitespace or the order of sentences changed';
}

const MAX_QUOTE = 160;

function quotedWords(verb: string, words: readonly string[]): string[] {
  if (words.length === 0) return [];
  const quote = excerpt(words.join(' '), MAX_QUOTE);
  const count = quote.endsWith('…') ? ` (${words.length} words)` : '';
  return [`${verb} "${quote}"${count}`];
}

function sentencesIn(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/u).map((sentence) => wordsIn(sentence).join(' '));
}

function wordsIn(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== '');
}
