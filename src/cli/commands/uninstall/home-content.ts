import {
  closeSync,
  type Dirent,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parseHeader } from '../../../agent/transcript/transcript-entry.ts';
import { isLockText } from '../../../base/files/file-lock.ts';
import { documentOf } from '../../../config/files/read-document.ts';

/** The files of one kind in Toolplane's home directory. */
export type HomePart = {
  readonly kind: string;
  /** Entries of the home directory, for display; a directory ends with a slash. */
  readonly places: readonly string[];
  readonly paths: readonly string[];
  /** Directories that are removed if they are empty afterwards, innermost first. */
  readonly directories: readonly string[];
  readonly bytes: number;
  /** Configured by the user, as opposed to collected while running. */
  readonly isConfigured: boolean;
};

export type HomeContent = {
  readonly parts: readonly HomePart[];
  /** The topmost paths that contain nothing written by Toolplane. */
  readonly others: readonly { readonly path: string; readonly why: string }[];
};

/**
 * Sorts the content of the home directory into what Toolplane wrote and what it did not. `TOOLPLANE_HOME` may be a
 * directory with other files in it, so a name alone is not enough: the content of a file decides. Links are not followed.
 */
export function homeContent(home: string): HomeContent {
  const entries = existsSync(home) ? sortedEntries(home) : [];
  const scanned = entries.map((entry) => ({
    name: entry.name,
    found: scan(home, join(home, entry.name), entry),
  }));
  const parts = KINDS.flatMap(({ kind, isConfigured }) => {
    const found = scanned.flatMap((it) => (it.found?.kind === kind ? [{ name: it.name, ...it.found }] : []));
    if (found.length === 0) return [];
    const paths = found.flatMap((it) => it.paths);
    return {
      kind,
      isConfigured,
      places: found.map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name)),
      paths,
      directories: found.flatMap((it) => it.directories),
      bytes: paths.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0),
    };
  });
  const others = scanned.flatMap(({ name, found }) => {
    if (found) return found.others.map((path) => ({ path, why: NOT_OURS }));
    const hasOurName = kindOfFile(name) !== undefined || kindOfDirectory(name) !== undefined;
    return [{ path: join(home, name), why: hasOurName ? ONLY_NAMED_LIKE_OURS : NOT_OURS }];
  });
  return { parts, others };
}

const NOT_OURS = 'not written by Toolplane';
const ONLY_NAMED_LIKE_OURS = 'has the name of a Toolplane file, but was not written by Toolplane';

type Kind = { readonly kind: string; readonly isConfigured: boolean };

const KINDS: readonly Kind[] = [
  { kind: 'settings', isConfigured: true },
  { kind: 'secrets', isConfigured: true },
  { kind: 'choices', isConfigured: true },
  { kind: 'conversations', isConfigured: false },
  { kind: 'pins', isConfigured: false },
  { kind: 'cache', isConfigured: false },
  { kind: 'servers', isConfigured: false },
  { kind: 'locks', isConfigured: false },
  { kind: 'inventory', isConfigured: true },
];

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SHORT_HASH = '[0-9a-f]{32}';
const LONG_HASH = '[0-9a-f]{64}';
const PROJECT = 'projects/(?:[^/]+-)?[0-9a-f]{12}';

type FileRow = { readonly kind: string; readonly name: RegExp; readonly isOurs: (path: string) => boolean };

/** Every file that Toolplane writes to its home directory: its path there, and the keys or the test that identify it. */
const FILES: readonly FileRow[] = [
  row('settings', 'settings\\.json', isSettings),
  row('secrets', 'secrets\\.json', json('version', 'secrets')),
  row('choices', 'choices\\.json', json('version', 'servers', 'settings', 'trusted')),
  row('inventory', 'written\\.json', json('version', 'files')),
  row('conversations', `${PROJECT}/${UUID}\\.jsonl`, isTranscript),
  row('conversations', `${PROJECT}/${UUID}/tool-results/(?:${SHORT_HASH}\\.\\w+|\\.${UUID})`, isToolResult),
  row('pins', `pins/${SHORT_HASH}\\.json`, json('format', 'server', 'places')),
  row('pins', `pins/${SHORT_HASH}\\.json\\.broken`, () => true),
  row('cache', 'cache/eras\\.json', json('format', 'eras')),
  row('cache', `cache/catalogue/${LONG_HASH}\\.json`, json('format', 'at', 'tools')),
  row('cache', `cache/connectors/${LONG_HASH}\\.json`, json('version', 'url', 'body')),
  row('locks', `locks/${SHORT_HASH}\\.lock`, isLock),
];

/** Directories by the kind of what they contain. What a server left in its own directory is not ours. */
const DIRECTORIES: readonly { readonly kind: string; readonly name: RegExp }[] = [
  { kind: 'conversations', name: new RegExp(`^(?:projects|${PROJECT}(?:/${UUID}(?:/tool-results)?)?)$`) },
  { kind: 'pins', name: /^pins$/ },
  { kind: 'cache', name: /^cache(?:\/(?:catalogue|connectors))?$/ },
  { kind: 'servers', name: /^servers(?:\/[a-z0-9_][a-z0-9_-]*)?$/ },
  { kind: 'locks', name: /^locks$/ },
];

function row(kind: string, name: string, isOurs: FileRow['isOurs']): FileRow {
  return { kind, name: new RegExp(`^${name}$`), isOurs };
}

/** What a file is by its name: one of `FILES`, the lock of one, or what an interrupted write of one left behind. */
function kindOfFile(name: string): Pick<FileRow, 'kind' | 'isOurs'> | undefined {
  const known = FILES.find((it) => it.name.test(name));
  if (known) return known;
  const base = name.replace(TEMPORARY, '$1$2');
  const target = base.replace(/\.lock$/, '');
  if (target === name) return undefined;
  const written = FILES.find((it) => it.name.test(target) || it.name.test(base));
  return written && { kind: written.kind, isOurs: base.endsWith('.lock') ? isLock : () => true };
}

const TEMPORARY = new RegExp(`(^|/)\\.?([^/]+)\\.${UUID}$`);

function kindOfDirectory(name: string): string | undefined {
  return DIRECTORIES.find((it) => it.name.test(name))?.kind;
}

/** What one entry holds that Toolplane wrote. */
type Scanned = {
  readonly kind: string;
  readonly isDirectory: boolean;
  readonly paths: readonly string[];
  readonly directories: readonly string[];
  readonly others: readonly string[];
};

/** Returns undefined if Toolplane wrote nothing of it. An empty directory with a name of ours is ours. */
function scan(home: string, path: string, entry: Dirent): Scanned | undefined {
  const name = relative(home, path).split(sep).join('/');
  if (entry.isFile()) {
    const found = kindOfFile(name);
    if (!found || !isReadable(path, found.isOurs)) return undefined;
    return { kind: found.kind, isDirectory: false, paths: [path], directories: [], others: [] };
  }
  const kind = entry.isDirectory() ? kindOfDirectory(name) : undefined;
  const entries = kind === undefined ? undefined : readableEntries(path);
  if (kind === undefined || !entries) return undefined;
  const inside = entries.map((it) => ({
    path: join(path, it.name),
    found: scan(home, join(path, it.name), it),
  }));
  const ours = inside.flatMap(({ found }) => found ?? []);
  const others = inside.flatMap((it) => it.found?.others ?? [it.path]);
  if (ours.length === 0 && others.length > 0) return undefined;
  return {
    kind,
    isDirectory: true,
    paths: ours.flatMap((it) => it.paths),
    directories: [...ours.flatMap((it) => it.directories), path],
    others,
  };
}

function sortedEntries(directory: string): Dirent[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function readableEntries(directory: string): Dirent[] | undefined {
  try {
    return sortedEntries(directory);
  } catch {
    return undefined;
  }
}

/** A file that cannot be read or parsed is not ours. */
function isReadable(path: string, isOurs: (path: string) => boolean): boolean {
  try {
    return isOurs(path);
  } catch {
    return false;
  }
}

/** Larger than any file that Toolplane writes as one document. */
const MAX_BYTES = 64 * 2 ** 20;

function readJson(path: string): Readonly<Record<string, unknown>> {
  const found = lstatSync(path).size > MAX_BYTES ? undefined : documentOf(path, readFileSync(path, 'utf8'));
  return found?.state === 'read' ? found.value : {};
}

/** A JSON document with an integer version and these other keys. */
function json(version: 'version' | 'format', ...keys: readonly string[]): FileRow['isOurs'] {
  return (path) => {
    const value = readJson(path);
    return Number.isInteger(value[version]) && keys.every((key) => Object.hasOwn(value, key));
  };
}

/** Settings that Toolplane has written to carry a version, and a known key or no other. */
function isSettings(path: string): boolean {
  const { version, $schema: _, ...members } = readJson(path);
  const keys = Object.keys(members);
  return Number.isInteger(version) && (keys.length === 0 || keys.some((key) => SETTINGS.has(key)));
}

const SETTINGS: ReadonlySet<string> = new Set(
  'permissions hooks env model sandbox timeouts serverSettings mcpServers plugins connectors'.split(' '),
);

/** Other programs keep conversations in files of the same name; the first line tells them apart. */
function isTranscript(path: string): boolean {
  const [first = ''] = startOf(path, 64 * 1024).split('\n', 1);
  return parseHeader(JSON.parse(first)) !== undefined;
}

function isToolResult(path: string): boolean {
  return isTranscript(path.replace(/[\\/]tool-results[\\/][^\\/]*$/, '.jsonl'));
}

function isLock(path: string): boolean {
  return isLockText(startOf(path, 4096));
}

function startOf(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
