import { closeSync, type Dirent, existsSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parseHeader } from '../../../agent/transcript/transcript-entry.ts';
import { isLockText } from '../../../base/files/file-lock.ts';
import { parseDocument } from '../../../config/files/read-document.ts';
import { readText } from '../../../config/files/read-text.ts';

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
  readonly others: readonly string[];
};

/**
 * Sorts the content of the home directory into what Toolplane wrote and what it did not. `TOOLPLANE_HOME` may be a
 * directory with other files in it, so a name alone is not enough: the content of a file decides. Links are not followed.
 */
export function homeContent(home: string): HomeContent {
  const entries = existsSync(home) ? scan(home, '') : [];
  const parts = KINDS.flatMap((kind) => {
    const ours = entries.filter((entry) => entry.kind === kind);
    if (ours.length === 0) return [];
    const pathsOf = (isDirectory: boolean) =>
      ours.filter((it) => it.isDirectory === isDirectory).map(({ name }) => join(home, name));
    const paths = pathsOf(false);
    return {
      kind,
      isConfigured: CONFIGURED.has(kind),
      places: ours
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, isDirectory }) => (isDirectory ? `${name}/` : name)),
      paths,
      directories: pathsOf(true),
      bytes: paths.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0),
    };
  });
  return {
    parts,
    others: entries.filter(({ kind }) => kind === undefined).map(({ name }) => join(home, name)),
  };
}

const KINDS: readonly string[] =
  'settings secrets choices conversations pins cache servers locks inventory'.split(' ');
const CONFIGURED: ReadonlySet<string> = new Set(['settings', 'secrets', 'choices', 'inventory']);

/** An entry below the home directory; without `kind` it was not written by Toolplane. */
type HomeEntry = { readonly name: string; readonly isDirectory: boolean; readonly kind?: string };

/** Lists the entries of a directory, innermost first. A known directory is Toolplane's if it is empty or holds such a file. */
function scan(home: string, directory: string): HomeEntry[] {
  const entries = readdirSync(join(home, directory), { withFileTypes: true });
  return entries
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = directory === '' ? entry.name : `${directory}/${entry.name}`;
      const isDirectory = entry.isDirectory();
      try {
        const kind = kindOf(home, name, entry);
        const inside = isDirectory && kind !== undefined ? scan(home, name) : [];
        const isOurs = inside.length === 0 || inside.some((it) => it.kind !== undefined);
        return kind !== undefined && isOurs
          ? [...inside, { name, isDirectory, kind }]
          : [{ name, isDirectory }];
      } catch {
        // An entry that cannot be read is not Toolplane's.
        return [{ name, isDirectory }];
      }
    });
}

function kindOf(home: string, name: string, entry: Dirent): string | undefined {
  if (entry.isDirectory()) return DIRECTORIES.find((it) => it.name.test(name))?.kind;
  if (!entry.isFile()) return undefined;
  const path = join(home, name);
  const known = FILES.find((it) => it.name.test(name));
  if (known) return known.isOurs(path) ? known.kind : undefined;
  // The lock of a known file, or a temporary file of an interrupted write.
  const base = name.replace(TEMPORARY, '$1$2');
  const target = base.replace(/\.lock$/, '');
  const written = FILES.find((it) => it.name.test(target) || it.name.test(base));
  return base.endsWith('.lock') && !isLock(path) ? undefined : written?.kind;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SHORT_HASH = '[0-9a-f]{32}';
const LONG_HASH = '[0-9a-f]{64}';
const PROJECT = 'projects/(?:[^/]+-)?[0-9a-f]{12}';
const TEMPORARY = new RegExp(`(^|/)\\.?([^/]+)\\.${UUID}$`);

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

/** Directories by the kind of their content. Files that a server left in its own directory are not Toolplane's. */
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

/** Larger than any file that Toolplane writes as one document. */
const MAX_BYTES = 64 * 2 ** 20;

function readJson(path: string): Readonly<Record<string, unknown>> {
  const found = readText(path, { maxBytes: MAX_BYTES });
  const document = found.state === 'read' ? parseDocument(found.text) : found;
  return document.state === 'read' ? document.value : {};
}

/** A JSON document with an integer version and these other keys. */
function json(version: 'version' | 'format', ...keys: readonly string[]): FileRow['isOurs'] {
  return (path) => {
    const value = readJson(path);
    return Number.isInteger(value[version]) && keys.every((key) => Object.hasOwn(value, key));
  };
}

/** Settings that Toolplane wrote have a version, and a known key or no other key. */
function isSettings(path: string): boolean {
  const { version, $schema: _, ...members } = readJson(path);
  const keys = Object.keys(members);
  return Number.isInteger(version) && (keys.length === 0 || keys.some((key) => SETTINGS.has(key)));
}

const SETTINGS: ReadonlySet<string> = new Set(
  'permissions hooks env model sandbox timeouts serverSettings mcpServers plugins connectors'.split(' '),
);

/** Other programs store conversations in files of the same name; the first line identifies Toolplane's. */
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
