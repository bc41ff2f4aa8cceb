import {
  closeSync,
  type Dirent,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseHeader } from '../../../agent/transcript/transcript-entry.ts';
import { isLockText } from '../../../base/files/file-lock.ts';
import { isRecord } from '../../../base/json-value.ts';
import { documentOf } from '../../../config/files/read-document.ts';

/** What Toolplane keeps for a person, by kind. */
export type HomePart = {
  readonly kind: string;
  /** Where it is in the directory, for people; a directory ends with a stroke. */
  readonly places: readonly string[];
  /** Every file that goes. */
  readonly paths: readonly string[];
  /** What they are in, the innermost first: each goes if nothing else is in it. */
  readonly directories: readonly string[];
  readonly bytes: number;
  /** Whether a person put it there, and not Toolplane in passing. */
  readonly isConfigured: boolean;
};

export type HomeContent = {
  readonly parts: readonly HomePart[];
  /** What is not ours, as high up as can be, and how that is known. */
  readonly others: readonly { readonly path: string; readonly why: string }[];
};

/**
 * What is in the directory. `TOOLPLANE_HOME` may be one in which somebody keeps `projects` of their own, so names alone
 * make nothing ours: what is in a file does. Links are not followed, for whoever made them did that for a reason.
 */
export function homeContent(home: string): HomeContent {
  const entries = existsSync(home) ? entriesIn(home) : [];
  const claimed = KINDS.map(({ kind, isConfigured, shelf }) => {
    const claims = entries.flatMap((entry) => claimOf(home, entry, shelf) ?? []);
    return { kind, isConfigured, claims };
  });
  const known = new Set(claimed.flatMap(({ claims }) => claims.map(({ path }) => path)));
  const unclaimed = entries.filter(({ name }) => !known.has(join(home, name)));
  const inside = claimed.flatMap(({ claims }) => claims.flatMap(({ others }) => others));
  return {
    parts: claimed.filter(({ claims }) => claims.length > 0).map(partOf),
    others: [
      ...unclaimed.map(({ name }) => ({
        path: join(home, name),
        why: isName(name) ? NOT_WRITTEN : NOT_OURS,
      })),
      ...inside.map((path) => ({ path, why: NOT_OURS })),
    ],
  };
}

const NOT_OURS = 'it is none of ours';
const NOT_WRITTEN = 'it bears one of our names, but Toolplane did not write it';

function isName(name: string): boolean {
  return KINDS.some(({ shelf: { files = [], folders = [] } }) =>
    [...files, ...folders].some((it) => it.name.test(name)),
  );
}

/** What of one thing in a directory is ours. */
type Claim = {
  readonly path: string;
  readonly place: string;
  readonly paths: readonly string[];
  readonly directories: readonly string[];
  readonly others: readonly string[];
};

/** Undefined if nothing of it is; a directory of ours that is empty is ours. */
function claimOf(directory: string, entry: Dirent, { files = [], folders = [] }: Shelf): Claim | undefined {
  const { name } = entry;
  const path = join(directory, name);
  if (entry.isFile()) {
    const isOurs = files.some((it) => it.name.test(name) && it.holds(path));
    return isOurs ? { path, place: name, paths: [path], directories: [], others: [] } : undefined;
  }
  const folder = folders.find((it) => it.name.test(name) && (it.isOurs?.(path) ?? true));
  const entries = folder && entry.isDirectory() ? entriesWithin(path) : undefined;
  if (!folder || !entries) return undefined;
  const inside = entries.map((it) => ({ it, claim: claimOf(path, it, folder.shelf) }));
  const paths = inside.flatMap(({ claim }) => claim?.paths ?? []);
  const others = inside.flatMap(({ it, claim }) => claim?.others ?? [join(path, it.name)]);
  const below = inside.flatMap(({ claim }) => claim?.directories ?? []);
  if (paths.length === 0 && below.length === 0 && others.length > 0) return undefined;
  const directories = [...below, path];
  return { path, place: `${name}/`, paths, directories, others };
}

function partOf(found: {
  readonly kind: string;
  readonly isConfigured: boolean;
  readonly claims: readonly Claim[];
}): HomePart {
  const { kind, isConfigured, claims } = found;
  const paths = claims.flatMap((it) => it.paths);
  return {
    kind,
    places: claims.map(({ place }) => place),
    paths,
    directories: claims.flatMap((it) => it.directories),
    bytes: paths.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0),
    isConfigured,
  };
}

function entriesIn(directory: string): Dirent[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Undefined if it must not be looked into: then it is another's. */
function entriesWithin(directory: string): Dirent[] | undefined {
  try {
    return entriesIn(directory);
  } catch {
    return undefined;
  }
}

/** What of a directory is ours: by its name and, since others use such names too, by what it holds. */
type Shelf = {
  readonly files?: readonly { readonly name: RegExp; holds(path: string): boolean }[];
  readonly folders?: readonly {
    readonly name: RegExp;
    isOurs?(path: string): boolean;
    readonly shelf: Shelf;
  }[];
};

/** One kind of what Toolplane keeps for a person; `isConfigured` if they put it there, and not Toolplane in passing. */
type Kind = { readonly kind: string; readonly isConfigured: boolean; readonly shelf: Shelf };

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SHORT = '[0-9a-f]{32}';
const LONG = '[0-9a-f]{64}';

/** Nothing of ours is larger. */
const MOST_BYTES = 64 * 2 ** 20;

const isLock = readable((path) => isLockText(beginningOf(path, 4096)));

/** Other programs keep conversations in files of the same name; the first line tells. */
const isTranscript = readable((path) => {
  const [first = ''] = beginningOf(path, 64 * 1024).split('\n', 1);
  return parseHeader(JSON.parse(first)) !== undefined;
});

/** In the order people care about. */
const KINDS: readonly Kind[] = [
  { kind: 'settings', isConfigured: true, shelf: { files: kept('settings\\.json', isSettings) } },
  { kind: 'secrets', isConfigured: true, shelf: { files: kept('secrets\\.json', isSecrets) } },
  { kind: 'choices', isConfigured: true, shelf: { files: kept('choices\\.json', isChoices) } },
  { kind: 'conversations', isConfigured: false, shelf: folder('projects', { folders: [conversations()] }) },
  {
    kind: 'pins',
    isConfigured: false,
    shelf: folder('pins', {
      files: [
        ...kept(`${SHORT}\\.json`, isPins),
        { name: new RegExp(`^${SHORT}\\.json\\.broken$`), holds: () => true },
      ],
    }),
  },
  {
    kind: 'cache',
    isConfigured: false,
    shelf: folder('cache', {
      files: kept('eras\\.json', isEras),
      folders: [
        { name: /^catalogue$/, shelf: { files: kept(`${LONG}\\.json`, isCatalogue) } },
        { name: /^connectors$/, shelf: { files: kept(`${LONG}\\.json`, isConnector) } },
      ],
    }),
  },
  {
    kind: 'servers',
    isConfigured: false,
    // What servers left in their directories is theirs.
    shelf: folder('servers', { folders: [{ name: /^[a-z0-9_][a-z0-9_-]*$/, shelf: {} }] }),
  },
  {
    kind: 'locks',
    isConfigured: false,
    shelf: folder('locks', {
      files: [{ name: new RegExp(`^${SHORT}\\.lock(?:\\.${UUID})?$`), holds: isLock }],
    }),
  },
  { kind: 'inventory', isConfigured: true, shelf: { files: kept('written\\.json', isInventory) } },
];

/** A file, its lock, and what a write that was cut short left beside it, which may hold any part of it. */
function kept(
  name: string,
  isShape: (value: Readonly<Record<string, unknown>>) => boolean,
): NonNullable<Shelf['files']> {
  return [
    { name: new RegExp(`^${name}$`), holds: holdsShape(isShape) },
    { name: new RegExp(`^${name}\\.lock(?:\\.${UUID})?$`), holds: isLock },
    { name: new RegExp(`^\\.?${name}\\.${UUID}$`), holds: () => true },
  ];
}

function folder(name: string, shelf: Shelf): Shelf {
  return { folders: [{ name: new RegExp(`^${name}$`), shelf }] };
}

/** A folder of a project: a transcript for each session and, in a folder of the same name, results of its tools. */
function conversations(): NonNullable<Shelf['folders']>[number] {
  const results = { files: [{ name: new RegExp(`^(?:${SHORT}\\.\\w+|\\.${UUID})$`), holds: () => true }] };
  return {
    name: /^(?:.+-)?[0-9a-f]{12}$/,
    shelf: {
      files: [{ name: new RegExp(`^${UUID}\\.jsonl$`), holds: isTranscript }],
      folders: [
        {
          name: new RegExp(`^${UUID}$`),
          isOurs: (path) => isTranscript(`${path}.jsonl`),
          shelf: { folders: [{ name: /^tool-results$/, shelf: results }] },
        },
      ],
    },
  };
}

type Values = Readonly<Record<string, unknown>>;

/** Whether a file holds an object of one of our shapes, of whatever version. */
function holdsShape(isShape: (value: Values) => boolean): (path: string) => boolean {
  return readable((path) => {
    if (statSync(path).size > MOST_BYTES) return false;
    const found = documentOf(path, readFileSync(path, 'utf8'));
    return found.state === 'read' && isShape(found.value);
  });
}

/** Settings that we have written to: they carry a version then, and something that we know or nothing more. */
function isSettings({ version, $schema: _, ...members }: Values): boolean {
  const keys = Object.keys(members);
  return Number.isInteger(version) && (keys.length === 0 || keys.some((key) => SETTINGS.includes(key)));
}

const SETTINGS = [
  'permissions',
  'hooks',
  'env',
  'model',
  'sandbox',
  'timeouts',
  'serverSettings',
  'mcpServers',
  'plugins',
  'connectors',
];

function isSecrets({ version, secrets }: Values): boolean {
  return Number.isInteger(version) && isRecord(secrets);
}

function isChoices({ version, servers, settings, trusted }: Values): boolean {
  return Number.isInteger(version) && [servers, settings, trusted].every(Array.isArray);
}

function isInventory({ version, files }: Values): boolean {
  return Number.isInteger(version) && isRecord(files);
}

function isPins({ format, server, places }: Values): boolean {
  return Number.isInteger(format) && typeof server === 'string' && Array.isArray(places);
}

function isEras({ format, eras }: Values): boolean {
  return Number.isInteger(format) && isRecord(eras);
}

function isCatalogue({ format, at, tools }: Values): boolean {
  return Number.isInteger(format) && typeof at === 'number' && Array.isArray(tools);
}

function isConnector({ version, url, body }: Values): boolean {
  return Number.isInteger(version) && typeof url === 'string' && isRecord(body);
}

/** What is no regular file or cannot be read is none of ours. */
function readable(holds: (path: string) => boolean): (path: string) => boolean {
  return (path) => {
    try {
      return lstatSync(path).isFile() && holds(path);
    } catch {
      return false;
    }
  };
}

function beginningOf(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
