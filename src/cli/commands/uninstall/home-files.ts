import { closeSync, type Dirent, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPlanFile } from '../../../agent/builtins/session/plan-mode.ts';
import { parseOwner } from '../../../agent/tasks/process-owner.ts';
import { parseHeader } from '../../../agent/transcript/transcript-entry.ts';
import { isLockText } from '../../../base/files/file-lock.ts';
import { parseDocument } from '../../../config/files/read-document.ts';
import { readText } from '../../../config/files/read-text.ts';
import { SETTING_KEYS } from '../../../config/settings/setting-keys.ts';

type Kind = {
  readonly kind: string;
  /** `--keep-settings` keeps the files: the user configured them or may want their text. */
  readonly isKept?: true;
  /** For display, if the files are in directories of another kind. */
  readonly place?: string;
};

/** The kinds of files in the order in which they are listed and removed: of nested directories, the inner one first. */
export const KINDS: readonly Kind[] = [
  { kind: 'settings', isKept: true },
  { kind: 'secrets', isKept: true },
  { kind: 'choices', isKept: true },
  { kind: 'schedule', isKept: true },
  { kind: 'memory', isKept: true, place: 'projects/*/memory/' },
  { kind: 'plans', isKept: true },
  { kind: 'conversations' },
  { kind: 'history' },
  { kind: 'tasks' },
  { kind: 'teams' },
  { kind: 'inbox' },
  { kind: 'pins' },
  { kind: 'cache' },
  { kind: 'servers' },
  { kind: 'locks' },
  { kind: 'inventory', isKept: true },
];

/**
 * The kind of an entry of the home directory by its name and the content of a file; undefined if Toolplane did not write
 * it. A directory is known by its name alone. Throws if the entry cannot be read.
 */
export function kindOf(home: string, name: string, entry: Dirent): string | undefined {
  if (entry.isDirectory()) return DIRECTORIES.find((it) => it.name.test(name))?.kind;
  if (!entry.isFile()) return undefined;
  const path = join(home, name);
  const known = FILES.find((it) => it.name.test(name));
  if (known) return known.isOurs(path) ? known.kind : undefined;
  const base = name.replace(TEMPORARY, '');
  const isTemporary = base !== name;
  const locked = base.replace(/\.lock$/, '');
  // The name of a temporary file may start with a dot.
  const targets = isTemporary ? [base, locked, base.replace(/(^|\/)\.([^/]+)$/, '$1$2')] : [locked];
  const written = FILES.find((it) => targets.some((target) => it.name.test(target)));
  return isTemporary || isLock(path) ? written?.kind : undefined;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SHORT_HASH = '[0-9a-f]{32}';
const LONG_HASH = '[0-9a-f]{64}';
const PROJECT = 'projects/(?:[^/]+-)?[0-9a-f]{12}';
const SESSION = `${PROJECT}/${UUID}`;
/** A session, a shared task list, or a member of a team. */
const ID = '[A-Za-z0-9_-]{1,100}';
const MAILBOX = `teams/${ID}/(?:mail|leads)/${ID}`;
/** What interrupted writes leave: the draft of a file or a lock, and the guard under which a lock is removed. */
const TEMPORARY = new RegExp(`\\.${UUID}$|(?<=\\.lock(?:\\.guard)?)\\.taking$`);
/** The draft of the file tools, which does not name its target. */
const DRAFT = `\\.${UUID}\\.tmp`;

type FileRow = { readonly kind: string; readonly name: RegExp; readonly isOurs: (path: string) => boolean };

/** Every file that Toolplane writes to its home directory: its path there, and the test that identifies its content. */
const FILES: readonly FileRow[] = [
  row('settings', 'settings\\.json', isSettings),
  row('secrets', 'secrets\\.json', json('version', 'secrets')),
  row('secrets', 'secrets\\.enc', json('version', 'key', 'iv', 'tag', 'data')),
  row('secrets', 'secrets\\.key', json('version', 'key')),
  row('choices', 'choices\\.json', json('version', 'servers', 'settings', 'trusted')),
  row('inventory', 'written\\.json', json('version', 'files')),
  row('schedule', `schedule/${SHORT_HASH}\\.json`, hasKeys('cwd', 'jobs')),
  row('schedule', 'schedule/daemon\\.lock', isOwner),
  row('schedule', 'schedule/daemon\\.lock\\.guard', isLock),
  row('memory', `${PROJECT}/memory/(?:[^/]+\\.md|${DRAFT})`, isNote),
  row('plans', `plans/(?:[a-z]+-[a-z]+-[a-z]+\\.md|${DRAFT})`, isPlan),
  row('conversations', `${SESSION}\\.jsonl`, isTranscript),
  row('conversations', `${SESSION}/subagents/agent-[\\w-]+\\.jsonl`, isTranscript),
  row(
    'conversations',
    `${SESSION}/tool-results/(?:${SHORT_HASH}\\.\\w+|\\.${UUID}|[\\w-]+\\.output)`,
    isOfSession,
  ),
  row('conversations', `${SESSION}/file-history/(?:${LONG_HASH}|index\\.jsonl)`, isOfSession),
  row('conversations', `${SESSION}/(?:scheduled-tasks|archived)\\.json`, isOfSession),
  row('history', 'history\\.jsonl', starts(/^\{"text":"/)),
  row('tasks', `tasks/${ID}/\\d+\\.json`, hasKeys('id', 'subject', 'description', 'status')),
  row('tasks', `tasks/${ID}/\\.highwatermark`, starts(/^\d+\s*$/)),
  row('tasks', `tasks/${ID}/\\.lock`, isLock),
  row('teams', `teams/${ID}/members/${ID}`, isOwner),
  row('teams', `${MAILBOX}/(?:new|read)/\\d{9}-${SHORT_HASH}\\.json`, hasKeys('id', 'from', 'kind', 'text')),
  row('teams', `${MAILBOX}/\\.lock`, isLock),
  row('teams', `teams/${ID}/merge\\.lock`, isLock),
  row('inbox', 'channels/inbox\\.db(?:-wal|-shm|-journal)?', isInbox),
  row('pins', `pins/${SHORT_HASH}\\.json`, json('format', 'server', 'places')),
  row('pins', `pins/${SHORT_HASH}\\.json\\.broken`, () => true),
  row('cache', 'cache/eras\\.json', json('format', 'eras')),
  row('cache', `cache/catalogue/${LONG_HASH}\\.json`, json('format', 'at', 'tools')),
  row('cache', `cache/connectors/${LONG_HASH}\\.json`, json('version', 'url', 'body')),
  row('locks', `locks/${SHORT_HASH}\\.lock`, isLock),
];

/** Directories by the kind of their content. Files that a server left in its own directory are not Toolplane's. */
const DIRECTORIES: readonly { readonly kind: string; readonly name: RegExp }[] = [
  directory('schedule', 'schedule'),
  directory('memory', `${PROJECT}/memory`),
  directory('plans', 'plans'),
  directory('conversations', `projects|${PROJECT}|${SESSION}(?:/(?:subagents|tool-results|file-history))?`),
  directory('tasks', `tasks(?:/${ID})?`),
  directory('teams', `teams(?:/${ID}(?:/(?:members|mail|leads))?)?|${MAILBOX}(?:/(?:new|read))?`),
  directory('inbox', 'channels'),
  directory('pins', 'pins'),
  directory('cache', 'cache(?:/(?:catalogue|connectors))?'),
  directory('servers', 'servers(?:/[a-z0-9_][a-z0-9_-]*)?'),
  directory('locks', 'locks'),
];

function row(kind: string, name: string, isOurs: FileRow['isOurs']): FileRow {
  return { ...directory(kind, name), isOurs };
}

function directory(kind: string, name: string): { readonly kind: string; readonly name: RegExp } {
  return { kind, name: new RegExp(`^(?:${name})$`) };
}

/** Maximum size of a file that is parsed; every document that Toolplane writes is smaller. */
const MAX_BYTES = 64 * 2 ** 20;

function readJson(path: string): Readonly<Record<string, unknown>> {
  const found = readText(path, { maxBytes: MAX_BYTES });
  const document = found.state === 'read' ? parseDocument(found.text) : found;
  return document.state === 'read' ? document.value : {};
}

function hasKeys(...keys: readonly string[]): FileRow['isOurs'] {
  return (path) => {
    const value = readJson(path);
    return keys.every((key) => Object.hasOwn(value, key));
  };
}

/** Recognizes a JSON document by an integer version and these other keys. */
function json(version: 'version' | 'format', ...keys: readonly string[]): FileRow['isOurs'] {
  return (path) => hasKeys(...keys)(path) && Number.isInteger(readJson(path)[version]);
}

/** Recognizes a file by its first characters; the rest may be long. */
function starts(pattern: RegExp): FileRow['isOurs'] {
  return (path) => pattern.test(startOf(path, 64));
}

/** Settings that Toolplane wrote have a version, and a known key or no other key. */
function isSettings(path: string): boolean {
  const { version, $schema: _, ...members } = readJson(path);
  const keys = Object.keys(members);
  return Number.isInteger(version) && (keys.length === 0 || keys.some((key) => SETTING_KEYS.has(key)));
}

/** Other programs store conversations in files of the same name; the first line identifies Toolplane's. */
function isTranscript(path: string): boolean {
  const [first = ''] = startOf(path, 64 * 1024).split('\n', 1);
  const document = parseDocument(first);
  return document.state === 'read' && parseHeader(document.value) !== undefined;
}

/** Whether the session in whose directory the file is has a transcript. */
function isOfSession(path: string): boolean {
  return isTranscript(path.replace(/(?:[\\/](?:tool-results|file-history))?[\\/][^\\/]*$/, '.jsonl'));
}

/** Notes can have any text: their directory has an index, or is next to a conversation. */
function isNote(path: string): boolean {
  const project = dirname(dirname(path));
  return (
    existsSync(join(dirname(path), 'MEMORY.md')) ||
    readdirSync(project).some((name) => name.endsWith('.jsonl') && isTranscript(join(project, name)))
  );
}

/** Plans can have any text: only their names are known. */
function isPlan(path: string): boolean {
  return path.endsWith('.tmp') || isPlanFile(path);
}

/** The schema is in the first pages of the database, or of its log until they are copied. */
function isInbox(path: string): boolean {
  const database = path.replace(/-[a-z]+$/, '');
  return [database, `${database}-wal`].some(
    (it) => existsSync(it) && startOf(it, 64 * 1024).includes('CREATE TRIGGER message_added'),
  );
}

/** The process that a file names as its user; undefined if it names none. */
export function ownerOf(path: string): ReturnType<typeof parseOwner> {
  return parseOwner(startOf(path, 4096));
}

function isOwner(path: string): boolean {
  return ownerOf(path) !== undefined;
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
