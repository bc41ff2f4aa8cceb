import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What Toolplane keeps for a person, by kind. */
export type HomePart = {
  readonly kind: string;
  /** What goes, and then the directory it is in, if nothing else is. */
  readonly paths: readonly string[];
  readonly directory?: string;
  readonly files: number;
  readonly bytes: number;
  /** Whether a person put it there, and not Toolplane in passing. */
  readonly isConfigured: boolean;
};

export type HomeContent = { readonly parts: readonly HomePart[]; readonly others: readonly string[] };

/** A file, or a directory with what is ours in it; in the order people care about. */
type Kind = { readonly kind: string; readonly isConfigured: boolean } & (
  | { readonly file: string }
  | { readonly directory: string; readonly own: RegExp }
);

const KINDS: readonly Kind[] = [
  { kind: 'settings', file: 'settings.json', isConfigured: true },
  { kind: 'secrets', file: 'secrets.json', isConfigured: true },
  { kind: 'choices', file: 'choices.json', isConfigured: true },
  { kind: 'conversations', directory: 'projects', own: /^(?:.+-)?[0-9a-f]{12}$/, isConfigured: false },
  { kind: 'pins', directory: 'pins', own: /^\.?[0-9a-f]{32}\.json(?:\..+)?$/, isConfigured: false },
  {
    kind: 'cache',
    directory: 'cache',
    own: /^(?:eras\.json(?:\..+)?|catalogue|connectors)$/,
    isConfigured: false,
  },
  { kind: 'inventory', file: 'written.json', isConfigured: true },
];

/**
 * What is in the directory. Only what bears one of our names is ours: `TOOLPLANE_HOME` may be a directory in which
 * somebody keeps `projects` of their own.
 */
export function homeContent(home: string): HomeContent {
  const names = namesIn(home);
  const found = KINDS.map((kind) => partOf(home, names, kind));
  const known = new Set(found.flatMap(({ part: { paths, directory } }) => [...paths, directory]));
  return {
    parts: found.map(({ part }) => part).filter(({ paths, directory }) => paths.length > 0 || directory),
    others: [
      ...names.map((it) => join(home, it)).filter((it) => !known.has(it)),
      ...found.flatMap(({ others }) => others),
    ],
  };
}

function partOf(home: string, names: readonly string[], kind: Kind): { part: HomePart; others: string[] } {
  const { kind: name, isConfigured } = kind;
  const place = 'directory' in kind ? join(home, kind.directory) : undefined;
  const directory = place !== undefined && isDirectory(place) ? place : undefined;
  const inside = directory === undefined ? [] : namesIn(directory);
  const isOwn = (it: string) => ('own' in kind ? kind.own.test(it) : isOf(kind.file, it));
  const all = 'own' in kind ? inside : names;
  const paths = all.filter(isOwn).map((it) => join(directory ?? home, it));
  const sizes = paths.flatMap(sizesOf);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const others = inside.filter((it) => !isOwn(it)).map((it) => join(directory ?? home, it));
  // A directory in which nothing is ours is not ours either.
  const isOurs = directory !== undefined && (paths.length > 0 || others.length === 0);
  const part = { kind: name, paths, files: sizes.length, bytes, isConfigured, ...(isOurs && { directory }) };
  return { part, others: isOurs ? others : [] };
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The name itself, and what a write that was cut short left beside it. */
function isOf(name: string, found: string): boolean {
  const quoted = name.replaceAll('.', '\\.');
  return new RegExp(`^(?:${quoted}(?:\\.lock(?:\\.${UUID})?|\\.${UUID})?|\\.${quoted}\\.${UUID})$`).test(
    found,
  );
}

/** Links count as themselves: what they lead to is not ours. */
function sizesOf(path: string): number[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  return found.isDirectory() ? namesIn(path).flatMap((it) => sizesOf(join(path, it))) : [found.size];
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') return [];
    throw cause;
  }
}
