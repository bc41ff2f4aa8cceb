import { isRecord } from '../../base/is-record.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { isIdentical, ordered } from './canonical.ts';
import { cut, type Difference, plain } from './difference.ts';
import { sayWordChanges } from './words.ts';

/** Which schema of a tool is compared. Models fill in parameters; of results they only read. */
type Of = 'parameters' | 'result';
type Part = { readonly of: Of; readonly path: string };

/** What changed between two schemas, by parameter: `filter.owner`, `rows[].id`. */
export function schemaDifferences(
  of: Of,
  before: JsonSchema | undefined,
  after: JsonSchema | undefined,
): Difference[] {
  if (before === undefined || after === undefined) {
    if (before === after) return [];
    const text = `the schema of its ${of} was ${before === undefined ? 'added' : 'removed'}`;
    return [{ part: of, severity: 'low', text }];
  }
  // Ordered once, members can be compared as they are.
  const [old, fresh] = [ordered(before), ordered(after)];
  if (isIdentical(old, fresh)) return [];
  const found = schemas(old, fresh, { of, path: '' });
  return found.length > 0 ? found : [tell({ of, path: '' }, 'low', 'its schema was written otherwise')];
}

function schemas(before: unknown, after: unknown, part: Part): Difference[] {
  if (!isRecord(before) || !isRecord(after)) {
    if (isIdentical(before, after)) return [];
    return [tell(part, 'medium', `${plain(before, 'nothing')} → ${plain(after, 'nothing')}`)];
  }
  const [old, fresh] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  const keywords = new Set([...old.keys(), ...fresh.keys()]);
  return [...keywords].flatMap((keyword) => {
    const [one, other] = [old.get(keyword), fresh.get(keyword)];
    if (isIdentical(one, other) && old.has(keyword) === fresh.has(keyword)) return [];
    const compare = KEYWORDS.get(keyword) ?? otherKeyword;
    return compare({ keyword, one, other, part, old, fresh });
  });
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
type Compare = (change: Change) => Difference[];

function properties({ one, other, part, fresh }: Change): Difference[] {
  const [old, now] = [entriesOf(one), entriesOf(other)];
  const required = namesOf(fresh.get('required'));
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const inner = { ...part, path: part.path === '' ? name : `${part.path}.${name}` };
    if (!old.has(name)) {
      const text = describeParameter(now.get(name));
      return [tell(inner, 'high', `added${required.has(name) ? ' (required)' : ''}${text}`)];
    }
    if (!now.has(name)) return [tell(inner, 'medium', 'removed')];
    return schemas(old.get(name), now.get(name), inner);
  });
}

function describeParameter(schema: unknown): string {
  if (!isRecord(schema) || typeof schema.description !== 'string') return '';
  return `: "${cut(schema.description)}"`;
}

/** What came or went altogether is told as that. */
function required({ one, other, part, old, fresh }: Change): Difference[] {
  const [before, now] = [namesOf(one), namesOf(other)];
  const [had, has] = [entriesOf(old.get('properties')), entriesOf(fresh.get('properties'))];
  const inner = (name: string) => ({ ...part, path: part.path === '' ? name : `${part.path}.${name}` });
  const came = [...now].filter((name) => !before.has(name) && had.has(name) === has.has(name));
  const went = [...before].filter((name) => !now.has(name) && had.has(name) === has.has(name));
  return [
    ...came.map((name) => tell(inner(name), 'high', 'became required')),
    ...went.map((name) => tell(inner(name), 'low', 'became optional')),
  ];
}

function enumeration({ one, other, part }: Change): Difference[] {
  if (!Array.isArray(one) || !Array.isArray(other)) {
    return [tell(part, 'medium', Array.isArray(other) ? `allows only ${values(other)}` : 'allows any value')];
  }
  const without = (these: unknown[], those: unknown[]) =>
    these.filter((value) => !those.some((it) => isIdentical(it, value)));
  const [added, removed] = [without(other, one), without(one, other)];
  const said = [
    ...(added.length > 0 ? [`allows ${values(added)} now`] : []),
    ...(removed.length > 0 ? [`allows ${values(removed)} no longer`] : []),
  ];
  return said.length === 0 ? [] : [tell(part, 'medium', said.join(', '))];
}

function words({ keyword, one, other, part }: Change): Difference[] {
  const [before, after] = [one, other].map((it) => (typeof it === 'string' ? it : plain(it, '')));
  return [tell(part, 'high', `${keyword}: ${sayWordChanges(before ?? '', after ?? '')}`)];
}

function named({ one, other, part }: Change): Difference[] {
  const [old, now] = [entriesOf(one), entriesOf(other)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) => {
    const inner = { ...part, path: part.path === '' ? `#${name}` : `${part.path}#${name}` };
    if (old.has(name) !== now.has(name)) {
      return [tell(inner, 'medium', old.has(name) ? 'removed' : 'added')];
    }
    return schemas(old.get(name), now.get(name), inner);
  });
}

function items({ one, other, part }: Change): Difference[] {
  return schemas(one, other, { ...part, path: `${part.path}[]` });
}

function alternatives({ keyword, one, other, part }: Change): Difference[] {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) {
    const count = (it: unknown) => (Array.isArray(it) ? it.length : 0);
    return [tell(part, 'medium', `${keyword} had ${count(one)} schemas, has ${count(other)}`)];
  }
  return one.flatMap((schema: unknown, at) => schemas(schema, other[at], part));
}

function otherKeyword({ keyword, one, other, part }: Change): Difference[] {
  const severity = WEIGHTY.has(keyword) ? 'medium' : 'low';
  return [tell(part, severity, `${cut(keyword)} ${plain(one, 'unset')} → ${plain(other, 'gone')}`)];
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
  ['properties', properties],
  ['required', required],
  ['enum', enumeration],
  ['description', words],
  ['title', words],
  ['$defs', named],
  ['definitions', named],
  ['patternProperties', named],
  ['items', items],
  ['anyOf', alternatives],
  ['oneOf', alternatives],
  ['allOf', alternatives],
]);

function tell({ of, path }: Part, severity: Difference['severity'], text: string): Difference {
  const noun = of === 'parameters' ? 'parameter' : 'result member';
  const subject =
    path === '' ? (of === 'parameters' ? 'its parameters' : 'its result') : `${noun} ${cut(path)}`;
  return {
    part: path === '' ? of : `${of}.${path}`,
    severity: of === 'result' ? 'low' : severity,
    text: `${subject} ${text}`,
  };
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(isRecord(value) ? Object.entries(value) : []);
}

function namesOf(value: unknown): ReadonlySet<string> {
  return new Set(Array.isArray(value) ? value.filter((it) => typeof it === 'string') : []);
}

function values(all: readonly unknown[]): string {
  const said = all.slice(0, 5).map((value) => plain(value, ''));
  return [...said, ...(all.length > 5 ? [`${all.length - 5} more`] : [])].join(', ');
}
