import { isRecord } from '../../base/json-value.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import type { Definition } from './definition.ts';
import { excerpt, memberPath } from './differences.ts';
import { codePoints, eachHidden, findLookAlikes, type HiddenKind, isPlain } from './hidden-text.ts';

/** Deceptive characters in one part of a tool's definition. */
export type ToolFinding = Finding & {
  /** For messages: `its description`, `the description of the parameter "a.b"`. */
  readonly where: string;
};

/** The search ends after this many findings. */
const MAX_FINDINGS = 20;

/** Deceptive characters in the name, texts and schemas of a tool. The definition must have a bounded depth. */
export function toolFindings(tool: ListedTool | Definition): ToolFinding[] {
  const { name, title, description, annotations } = tool;
  const found: ToolFinding[] = [];
  const look: Look = (text, is, where) => {
    if (typeof text !== 'string' || found.length >= MAX_FINDINGS || isPlain(text)) return;
    for (const finding of findDeceptive(text, is)) found.push({ ...finding, where: where() });
  };
  look(name, 'name', () => 'its name');
  look(title, 'name', () => 'its title');
  look(annotations?.title, 'name', () => 'its title');
  look(description, 'text', () => 'its description');
  lookInto(tool.inputSchema, 'parameter', '', look);
  if (tool.outputSchema) lookInto(tool.outputSchema, 'result member', '', look);
  return found;
}

/** All findings in one sentence; undefined without any. */
export function formatFindings(findings: readonly ToolFinding[]): string | undefined {
  const places = [...Map.groupBy(findings, ({ where }) => where)];
  if (places.length === 0) return undefined;
  const parts = places.slice(0, MAX_PLACES).map(([where, all]) => {
    const kinds = all.slice(0, MAX_KINDS).map(formatFinding);
    return `${where} has ${[...kinds, ...(all.length > MAX_KINDS ? ['more'] : [])].join(' and ')}`;
  });
  const more = places.length - MAX_PLACES;
  const count = findings.length < MAX_FINDINGS ? `${more}` : `at least ${more}`;
  return [
    ...parts,
    ...(more > 0
      ? [`${count} more ${more === 1 ? 'place contains' : 'places contain'} deceptive characters`]
      : []),
  ].join('; ');
}

const MAX_PLACES = 3;
const MAX_KINDS = 3;

type Look = (text: string | undefined, is: 'name' | 'text', where: () => string) => void;

/** `path` is the parameter that the schema describes; empty for the root. */
function lookInto(value: unknown, what: string, path: string, look: Look): void {
  const about = () => (path === '' ? `the ${what}s' schema` : `the ${what} "${excerpt(path)}"`);
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
        look(name, 'name', () => `the name of the ${what} "${excerpt(inner)}"`);
        lookInto(schema, what, inner, look);
      }
    } else {
      look(key, 'text', about);
      lookInto(member, what, path, look);
    }
  }
}

/** Deceptive characters of one kind in one text. */
type Finding = {
  readonly kind: HiddenKind | 'look-alike';
  /** How often they occur; counting ends at 1,000. */
  readonly count: number;
  /** `U+200B`, each once. */
  readonly codePoints: readonly string[];
  /** The text that tag characters spell, or the word with look-alike letters. */
  readonly spells?: string;
};

const MAX_COUNTED = 1_000;
/** How much of a name is searched for look-alikes. */
const MAX_NAME_LENGTH = 1_000;

/** Hidden characters, and in names letters that look like those of another alphabet. */
export function findDeceptive(text: string, is: 'name' | 'text' = 'text'): Finding[] {
  const kinds = new Map<HiddenKind, { count: number; all: string }>();
  eachHidden(text, (kind, at, end) => {
    const { count, all } = kinds.get(kind) ?? { count: 0, all: '' };
    kinds.set(kind, { count: count + 1, all: all + text.slice(at, Math.min(end, at + MAX_SEQUENCE_LENGTH)) });
    return count + 1 < MAX_COUNTED ? 'on' : 'enough';
  });
  const hidden = [...kinds].map(([kind, { count, all }]): Finding => {
    const spells = kind === 'tag' ? decodeTags(all) : '';
    return { kind, count, codePoints: codePoints(all), ...(spells !== '' && { spells }) };
  });
  if (is === 'text') return hidden;
  return [
    ...hidden,
    ...findLookAlikes(text.slice(0, MAX_NAME_LENGTH)).map(
      ({ word, letters }): Finding => ({
        kind: 'look-alike',
        count: [...letters].length,
        codePoints: codePoints(letters),
        spells: word,
      }),
    ),
  ];
}

/** `2 zero-width characters (U+200B)`. */
export function formatFinding({ kind, count, codePoints: codes, spells }: Finding): string {
  const listed = codes.length > MAX_CODES ? [...codes.slice(0, MAX_CODES), '…'] : codes;
  const spelling = spells === undefined ? '' : kind === 'tag' ? ` that spell "${excerpt(spells, 60)}"` : '';
  const word = kind === 'look-alike' && spells !== undefined ? ` in "${excerpt(spells, 60)}"` : '';
  const often = count < MAX_COUNTED ? `${count}` : `at least ${count}`;
  return `${often} ${NAMES[kind][count === 1 ? 0 : 1]}${word} (${listed.join(', ')})${spelling}`;
}

const MAX_CODES = 4;
/** How much of an escape sequence is reported. */
const MAX_SEQUENCE_LENGTH = 100;

/** Singular and plural. */
const NAMES: Readonly<Record<Finding['kind'], readonly [string, string]>> = {
  'zero-width': ['zero-width character', 'zero-width characters'],
  bidirectional: ['character that changes the text direction', 'characters that change the text direction'],
  tag: ['invisible tag character', 'invisible tag characters'],
  'variation-selector': ['stray variation selector', 'stray variation selectors'],
  'soft-hyphen': ['soft hyphen', 'soft hyphens'],
  invisible: ['invisible character', 'invisible characters'],
  control: ['control character', 'control characters'],
  'escape-sequence': ['terminal escape sequence', 'terminal escape sequences'],
  'private-use': ['private-use character', 'private-use characters'],
  'no-character': ['invalid code point', 'invalid code points'],
  'look-alike': [
    'letter of another alphabet that looks Latin',
    'letters of another alphabet that look Latin',
  ],
};

/** Tag characters encode ASCII in an invisible block. */
function decodeTags(text: string): string {
  const codes = [...text].map((char) => (char.codePointAt(0) as number) - 0xe0000);
  return String.fromCharCode(...codes.slice(0, 200).filter((code) => code >= 0x20 && code < 0x7f));
}
