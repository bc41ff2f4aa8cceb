import { isEqualJson, isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { type Difference, excerpt, formatValue, memberPath } from './difference.ts';
import type { Effort } from './effort.ts';
import type { Tell } from './gather.ts';
import { sayWordChanges } from './words.ts';

/** Which schema of a tool is compared. Models fill in parameters; of results they only read. */
type Of = 'parameters' | 'result';
/** Where in which schema; whoever is told of what is there; what may be spent on it. */
type Part = { readonly of: Of; readonly path: string; readonly hear: Hear };
type Hear = { readonly tell: Tell; readonly effort: Effort };

/** Tells what changed between two schemas, both ordered, by parameter: `filter.owner`, `rows[].id`. */
export function schemaDifferences(
  of: Of,
  before: JsonSchema | undefined,
  after: JsonSchema | undefined,
  hear: Hear,
): void {
  if (before === undefined || after === undefined) {
    if (before === after) return;
    const what = before === undefined ? 'added' : 'removed';
    hear.tell(of, 'low', () => `the schema of its ${of} was ${what}`);
    return;
  }
  if (isEqualJson(before, after)) return;
  let isTold = false;
  const tell: Tell = (...difference) => {
    isTold = true;
    hear.tell(...difference);
  };
  const whole = { of, path: '', hear: { ...hear, tell } };
  schemas(before, after, whole);
  if (!isTold) say(whole, 'low', () => 'its schema was written otherwise');
}

function schemas(before: unknown, after: unknown, part: Part): void {
  if (!isRecord(before) || !isRecord(after)) {
    if (isEqualJson(before, after)) return;
    say(part, 'medium', () => `${formatValue(before, 'nothing')} → ${formatValue(after, 'nothing')}`);
    return;
  }
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  for (const keyword of new Set([...old.keys(), ...fresh.keys()])) {
    const change = { keyword, one: old.get(keyword), other: fresh.get(keyword), part, old, fresh };
    const inside = WITHIN.get(keyword);
    // What is within is compared there: comparing it whole at every level would take very long.
    if (inside) inside(change);
    else if (old.has(keyword) !== fresh.has(keyword) || !isEqualJson(change.one, change.other)) {
      const compare = KEYWORDS.get(keyword) ?? otherKeyword;
      compare(change);
    }
  }
}

type Change = {
  readonly keyword: string;
  readonly one: unknown;
  readonly other: unknown;
  readonly part: Part;
  /** The whole schemas. */
  readonly old: ReadonlyMap<string, unknown>;
  readonly fresh: ReadonlyMap<string, unknown>;
};
type Compare = (change: Change) => void;

function properties({ one, other, part, fresh }: Change): void {
  const [old, now] = [entriesOf(one), entriesOf(other)];
  const required = namesOf(fresh.get('required'));
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const inner = { ...part, path: memberPath(part.path, name) };
    if (!old.has(name)) {
      const word = required.has(name) ? 'added (required)' : 'added';
      say(inner, 'high', () => `${word}${describeParameter(now.get(name))}`);
    } else if (!now.has(name)) say(inner, 'medium', () => 'removed');
    else schemas(old.get(name), now.get(name), inner);
  }
}

function describeParameter(schema: unknown): string {
  if (!isRecord(schema) || typeof schema.description !== 'string') return '';
  return `: "${excerpt(schema.description)}"`;
}

/** What came or went altogether is told as that. */
function required({ one, other, part, old, fresh }: Change): void {
  const [before, now] = [namesOf(one), namesOf(other)];
  const [had, has] = [entriesOf(old.get('properties')), entriesOf(fresh.get('properties'))];
  for (const name of new Set([...now, ...before])) {
    if (before.has(name) === now.has(name) || had.has(name) !== has.has(name)) continue;
    const inner = { ...part, path: memberPath(part.path, name) };
    if (now.has(name)) say(inner, 'high', () => 'became required');
    else say(inner, 'low', () => 'became optional');
  }
}

function enumeration({ one, other, part }: Change): void {
  if (!Array.isArray(one) || !Array.isArray(other)) {
    const text = () => (Array.isArray(other) ? `allows only ${values(other)}` : 'allows any value');
    say(part, 'medium', text);
    return;
  }
  const [added, removed] = [without(other, one), without(one, other)];
  if (added.length + removed.length === 0) return;
  say(part, 'medium', () =>
    [
      ...(added.length > 0 ? [`allows ${values(added)} now`] : []),
      ...(removed.length > 0 ? [`allows ${values(removed)} no longer`] : []),
    ].join(', '),
  );
}

/** Those are ordered, so the same values have the same text. */
function without(these: readonly unknown[], those: readonly unknown[]): unknown[] {
  const texts = new Set(those.map((it) => JSON.stringify(it)));
  return these.filter((it) => !texts.has(JSON.stringify(it)));
}

function words({ keyword, one, other, part }: Change): void {
  say(part, 'high', () => {
    const [before = '', after = ''] = [one, other].map((it) =>
      typeof it === 'string' ? it : formatValue(it, ''),
    );
    return `${keyword}: ${sayWordChanges(before, after, part.hear.effort)}`;
  });
}

function named({ one, other, part }: Change): void {
  const [old, now] = [entriesOf(one), entriesOf(other)];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const inner = { ...part, path: memberPath(part.path, name, '#') };
    if (old.has(name) === now.has(name)) schemas(old.get(name), now.get(name), inner);
    else say(inner, 'medium', () => (old.has(name) ? 'removed' : 'added'));
  }
}

function items({ one, other, part }: Change): void {
  schemas(one, other, { ...part, path: memberPath(part.path, '', '[]') });
}

function alternatives({ keyword, one, other, part }: Change): void {
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    for (const [at, schema] of one.entries()) schemas(schema, other[at], part);
  } else if (!isEqualJson(one, other)) {
    const count = (it: unknown) => (Array.isArray(it) ? it.length : 0);
    say(part, 'medium', () => `${keyword} had ${count(one)} schemas, has ${count(other)}`);
  }
}

function otherKeyword({ keyword, one, other, part }: Change): void {
  const severity = WEIGHTY.has(keyword) ? 'medium' : 'low';
  say(
    part,
    severity,
    () => `${excerpt(keyword)} ${formatValue(one, 'unset')} → ${formatValue(other, 'gone')}`,
  );
}

const WEIGHTY: ReadonlySet<string> = new Set([
  'type',
  'default',
  'const',
  'format',
  '$ref',
  'additionalProperties',
]);

const KEYWORDS: ReadonlyMap<string, Compare> = new Map([
  ['required', required],
  ['enum', enumeration],
  ['description', words],
  ['title', words],
]);

/** Those that hold schemas. */
const WITHIN: ReadonlyMap<string, Compare> = new Map([
  ['properties', properties],
  ['$defs', named],
  ['definitions', named],
  ['patternProperties', named],
  ['items', items],
  ['anyOf', alternatives],
  ['oneOf', alternatives],
  ['allOf', alternatives],
]);

function say({ of, path, hear }: Part, severity: Difference['severity'], text: () => string): void {
  const part = path === '' ? of : `${of}.${path}`;
  hear.tell(part, of === 'result' ? 'low' : severity, () => `${subject(of, path)} ${text()}`);
}

function subject(of: Of, path: string): string {
  if (path === '') return of === 'parameters' ? 'its parameters' : 'its result';
  return `${of === 'parameters' ? 'parameter' : 'result member'} ${excerpt(path)}`;
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(isRecord(value) ? Object.entries(value) : []);
}

function namesOf(value: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.filter((it) => typeof it === 'string') : []);
}

function values(all: readonly unknown[]): string {
  const said = all.slice(0, 5).map((value) => formatValue(value, ''));
  return [...said, ...(all.length > 5 ? [`${all.length - 5} more`] : [])].join(', ');
}
