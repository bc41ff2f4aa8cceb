import { constants as bufferConstants } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import {
  readClaudeTranscript,
  readTranscript,
  readTranscriptTo,
  type SessionContents,
} from './read-transcript.ts';
import { readTranscriptEnd } from './read-transcript-end.ts';
import type { NewEntry } from './transcript-entry.ts';
import { parseRecords, type Records, titleOf } from './transcript-records.ts';

/** The file of a session; its contents have not been read. */
type StoredSession = {
  readonly sessionId: string;
  readonly path: string;
  readonly modifiedAt: Date;
  readonly bytes: number;
};

/** The session with that id in this project; undefined if there is none or the id is invalid. */
export async function findSession(
  root: string,
  cwd: string,
  sessionId: string,
): Promise<StoredSession | undefined> {
  return isSessionId(sessionId) ? stored(sessionId, sessionPath({ root, cwd, sessionId })) : undefined;
}

/**
 * The most recently written session that has a user message, including those of the `claude` CLI if its directory is given.
 * Files that cannot be read are skipped.
 */
export async function latestSession(
  root: string,
  cwd: string,
  claudeHome?: string,
): Promise<Pick<StoredSession, 'sessionId'> | undefined> {
  for (const file of await sessionFiles({ root, cwd, claudeHome })) {
    const contents = await readSessionFile(file, cwd).catch(() => undefined);
    // A conversation that was compacted has had user messages.
    if (contents?.entries.some(({ type }) => type === 'user' || type === 'compaction'))
      return { sessionId: file.sessionId };
  }
  return undefined;
}

/**
 * The sessions with this title in any case, the most recently written first; `modifiedAt` is in milliseconds. Files that
 * cannot be read are skipped.
 */
export async function findTitled(title: string, location: ProjectLocation): Promise<SessionFile[]> {
  const wanted = title.trim().toLowerCase();
  if (wanted === '') return [];
  const latest = new Map<string, SessionFile>();
  for (const file of await sessionFiles(location)) {
    if (!latest.has(file.sessionId)) latest.set(file.sessionId, file);
  }
  const found: SessionFile[] = [];
  for (const file of latest.values()) {
    const read = await readEnds(file).catch(() => undefined);
    if (read && hasConversation(read) && titleOf(read.records)?.trim().toLowerCase() === wanted)
      found.push(file);
  }
  return found;
}

/** The session of this project whose transcript has this path, relative to the project. */
export async function findByPath(
  path: string,
  { root, cwd, claudeHome }: ProjectLocation,
): Promise<Pick<StoredSession, 'sessionId'> | undefined> {
  const sessionId = sessionIdOf(basename(path));
  if (sessionId === undefined) return undefined;
  const files = [
    await findSession(root, cwd, sessionId),
    await findClaudeSession(claudeHome, cwd, sessionId),
  ];
  const wanted = await realpath(resolve(cwd, path)).catch(unlessMissing);
  const found = await Promise.all(files.map(async (file) => file && realpath(file.path)));
  return wanted !== undefined && found.includes(wanted) ? { sessionId } : undefined;
}

/** The `claude` CLI also writes files that have only a title. */
function hasConversation({ writer, records }: Records): boolean {
  return writer === 'toolplane' || records.some(({ type }) => type === 'user' || type === 'assistant');
}

type SessionFile = Omit<TranscriptFile, 'project'>;

/** The files of Toolplane's agent and of the `claude` CLI, the most recently written first. */
async function sessionFiles({ root, cwd, claudeHome }: ProjectLocation): Promise<SessionFile[]> {
  const own = (await listSessions(root, cwd)).map((session) => ({
    ...session,
    modifiedAt: session.modifiedAt.getTime(),
  }));
  const claude =
    claudeHome === undefined ? [] : await listTranscripts({ claude: claudeHome }, inProject(cwd));
  return [...own, ...claude].sort((a, b) => b.modifiedAt - a.modifiedAt);
}

async function readSessionFile({ sessionId, path }: SessionFile, cwd: string): Promise<SessionContents> {
  const end = await readTranscriptEnd(path);
  if (end) return end;
  const text = await readText(path);
  return readClaudeTranscript(text, { sessionId, cwd }) ?? readTranscript(text);
}

/** The directories that the sessions of a project are in. */
export type ProjectLocation = {
  readonly root: string;
  readonly cwd: string;
  /** The directory of the `claude` CLI for the user; without it, only sessions of Toolplane's agent are found. */
  readonly claudeHome?: string | undefined;
};

/** The session of the `claude` CLI with that id in this project. */
export async function findClaudeSession(
  claudeHome: string | undefined,
  cwd: string,
  sessionId: string,
): Promise<TranscriptFile | undefined> {
  return claudeHome === undefined
    ? undefined
    : findTranscript({ claude: claudeHome }, sessionId, inProject(cwd));
}

function inProject(cwd: string): ProjectSelection {
  return { dir: cwd, worktrees: false };
}

/** A stored session and its conversation. */
type StoredConversation = {
  readonly sessionId: string;
  /** The file that was read. */
  readonly path: string;
  /** The other file of this session, if Toolplane's agent and the `claude` CLI both have one. */
  readonly otherPath: string | undefined;
  /** Undefined if the session has no message with the requested id. */
  readonly contents: SessionContents | undefined;
  /** What Toolplane's transcript of the session lacks: messages of the `claude` CLI. */
  readonly missing: readonly NewEntry[];
  /** The entry that `missing` follows. */
  readonly after: string | null;
};

/**
 * Reads a session of Toolplane's agent, or of the `claude` CLI if its directory is given, up to the message `upTo` if it is
 * named. Without it and without `isWhole`, entries before the last compaction may be left out. If both have continued a session, the messages of the one that wrote last are used. Undefined if there is no such session.
 */
export async function readStoredSession(
  sessionId: string,
  { root, cwd, claudeHome }: ProjectLocation,
  { upTo, isWhole = false }: { readonly upTo?: string | undefined; readonly isWhole?: boolean } = {},
): Promise<StoredConversation | undefined> {
  const own = await findSession(root, cwd, sessionId);
  const claude = await findClaudeSession(claudeHome, cwd, sessionId);
  const isClaudeNewer = claude !== undefined && claude.modifiedAt > (own?.modifiedAt.getTime() ?? 0);
  if (own && !isClaudeNewer && upTo === undefined && !isWhole) {
    const contents = await readTranscriptEnd(own.path);
    if (contents) return { ...storedIn(own, claude), contents, after: contents.lastUuid };
  }
  const ownText = own ? await readText(own.path) : '';
  if (isClaudeNewer) {
    const contents = readClaudeTranscript(await readText(claude.path), { sessionId, cwd, upTo });
    const added = contents && lackedBy(ownText, contents);
    if (added) return { sessionId, path: claude.path, otherPath: own?.path, contents, ...added };
  }
  if (!own) {
    const unread = { sessionId, otherPath: undefined, contents: undefined, missing: [], after: null };
    return claude && upTo !== undefined ? { ...unread, path: claude.path } : undefined;
  }
  const contents = upTo === undefined ? readTranscript(ownText) : readTranscriptTo(ownText, upTo);
  return { ...storedIn(own, claude), contents, after: contents?.lastUuid ?? null };
}

function storedIn({ sessionId, path }: StoredSession, claude: TranscriptFile | undefined) {
  return { sessionId, path, otherPath: claude?.path, missing: [] };
}

/** Whether `readStoredSession` finds a session with that id. */
export async function hasStoredSession(
  sessionId: string,
  { root, cwd, claudeHome }: ProjectLocation,
): Promise<boolean> {
  if (await findSession(root, cwd, sessionId)) return true;
  return (await readStoredSession(sessionId, { root, cwd, claudeHome })) !== undefined;
}

/** The end of a conversation, from the first entry that the text of a transcript does not have; undefined if it has all. */
function lackedBy(
  text: string,
  { entries, title, tag }: SessionContents,
): Pick<StoredConversation, 'missing' | 'after'> | undefined {
  const isKnown = (uuid: string) => text.includes(`"uuid":${JSON.stringify(uuid)}`);
  const start = entries.findIndex(({ uuid }) => !isKnown(uuid));
  if (start === -1) return undefined;
  // An entry that a compaction moved gets a new id, because ids are unique in a file.
  const missing: NewEntry[] = entries
    .slice(start)
    .map(({ uuid, ...entry }) => (isKnown(uuid) ? entry : { ...entry, uuid }));
  if (title !== undefined) missing.push({ type: 'meta', title });
  if (tag !== undefined) missing.push({ type: 'meta', tag });
  return { missing, after: entries[start - 1]?.uuid ?? null };
}

/** All sessions of a project, the most recently written first. Rejects if the folder exists and cannot be read. */
export async function listSessions(root: string, cwd: string): Promise<StoredSession[]> {
  const folder = projectFolder(root, cwd);
  const names = await readdir(folder).catch(unlessMissing);
  const found = await Promise.all(
    (names ?? []).map((name) => {
      const sessionId = sessionIdOf(name);
      return sessionId === undefined ? undefined : stored(sessionId, join(folder, name));
    }),
  );
  return found
    .filter((session) => session !== undefined)
    .sort((a, b) => b.modifiedAt.getTime() - a.modifiedAt.getTime() || (a.path < b.path ? -1 : 1));
}

async function stored(sessionId: string, path: string): Promise<StoredSession | undefined> {
  const found = await stat(path).catch(unlessMissing);
  return found?.isFile() ? { sessionId, path, modifiedAt: found.mtime, bytes: found.size } : undefined;
}

function unlessMissing(cause: unknown): undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause;
}

/** Where a conversation is stored: `root` is the user's Toolplane folder, `cwd` the project's absolute path. */
export type SessionLocation = { readonly root: string; readonly cwd: string; readonly sessionId: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const EXTENSION = '.jsonl';
/** Maximum length of the readable part of a folder name: most systems limit names to 255 bytes, hash included. */
const MAX_READABLE_LENGTH = 100;

/** Whether a text is a session id: ids become parts of paths, so nothing else is accepted. */
export function isSessionId(text: string): boolean {
  return UUID.test(text);
}

/** The file of a session. Throws if the id is invalid. */
export function sessionPath({ root, cwd, sessionId }: SessionLocation): string {
  if (!isSessionId(sessionId))
    throw new RangeError(`A session id must be a UUID, but is ${JSON.stringify(sessionId)}`);
  return join(projectFolder(root, cwd), sessionId.toLowerCase() + EXTENSION);
}

/** The session id of a file name; undefined for other files. */
export function sessionIdOf(fileName: string): string | undefined {
  const id = fileName.endsWith(EXTENSION) ? fileName.slice(0, -EXTENSION.length) : '';
  return isSessionId(id) ? id : undefined;
}

/** The folder of a project: its path in readable form, and a hash, since `/a/b-c` and `/a/b/c` look the same in it. */
export function projectFolder(root: string, cwd: string): string {
  const readable = cwd
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(-MAX_READABLE_LENGTH);
  const hash = createHash('sha256').update(cwd).digest('hex').slice(0, 12);
  return join(root, 'projects', readable === '' ? hash : `${readable}-${hash}`);
}

/** The directories that transcripts are in, each with one folder per project; one that is absent is not searched. */
export type TranscriptRoots = {
  /** Toolplane's directory for the user. */
  readonly toolplane?: string;
  /** The directory of the `claude` CLI for the user: `CLAUDE_CONFIG_DIR`, by default `~/.claude`. */
  readonly claude?: string;
};

export type TranscriptFile = {
  readonly sessionId: string;
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly bytes: number;
  /** The directory of its project, if the caller named it. */
  readonly project?: string;
};

/** Which projects are searched; all projects without `dir`. */
type ProjectSelection = { readonly dir?: string | undefined; readonly worktrees?: boolean };

/** The transcripts of the selected projects, the most recently written first, one per session id. */
export async function listTranscripts(
  roots: TranscriptRoots,
  selection: ProjectSelection,
): Promise<TranscriptFile[]> {
  const folders = await projectFolders(roots, selection);
  const found = await Promise.all(
    folders.map(async (folder) =>
      Promise.all((await namesIn(folder.path)).map((name) => transcriptIn(folder, sessionIdOf(name)))),
    ),
  );
  const files = found
    .flat()
    .filter((file) => file !== undefined)
    .sort(byTime);
  const seen = new Set<string>();
  return files.filter(({ sessionId }) => !seen.has(sessionId) && seen.add(sessionId));
}

/** The transcript of a session; undefined if there is none or the id is invalid. */
export async function findTranscript(
  roots: TranscriptRoots,
  sessionId: string,
  selection: ProjectSelection,
): Promise<TranscriptFile | undefined> {
  return (await findTranscripts(roots, sessionId, selection))[0];
}

/** The transcripts of a session, the most recently written first: several if more than one agent has continued it. */
export async function findTranscripts(
  roots: TranscriptRoots,
  sessionId: string,
  selection: ProjectSelection,
): Promise<TranscriptFile[]> {
  if (!isSessionId(sessionId)) return [];
  const folders = await projectFolders(roots, selection);
  const found = await Promise.all(folders.map((folder) => transcriptIn(folder, sessionId)));
  return found.filter((file) => file !== undefined).sort(byTime);
}

function byTime(a: TranscriptFile, b: TranscriptFile): number {
  return b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1);
}

/** The folder for the other files of a session, beside its transcript. */
export function sessionFolder({ path }: TranscriptFile): string {
  return path.replace(/\.jsonl$/, '');
}

/** An empty file is not a transcript. */
async function transcriptIn(
  folder: ProjectFolder,
  sessionId: string | undefined,
): Promise<TranscriptFile | undefined> {
  if (sessionId === undefined) return undefined;
  const name = folder.isOwn ? sessionId.toLowerCase() : sessionId;
  const path = join(folder.path, name + EXTENSION);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size === 0) return undefined;
  const { project } = folder;
  return {
    sessionId,
    path,
    modifiedAt: Math.round(found.mtimeMs),
    bytes: found.size,
    ...(project !== undefined && { project }),
  };
}

type ProjectFolder = {
  readonly path: string;
  readonly project?: string;
  /** Whether Toolplane's agent writes the files of this folder; their names are in lower case. */
  readonly isOwn: boolean;
};

async function projectFolders(
  { toolplane, claude }: TranscriptRoots,
  { dir, worktrees = true }: ProjectSelection,
): Promise<ProjectFolder[]> {
  const claudeProjects = claude === undefined ? [] : await foldersIn(join(claude, 'projects'));
  if (!dir) {
    const own = toolplane === undefined ? [] : await foldersIn(join(toolplane, 'projects'));
    return [
      ...own.map((path) => ({ path, isOwn: true })),
      ...claudeProjects.map((path) => ({ path, isOwn: false })),
    ];
  }
  const given = resolve(dir);
  const real = await realpath(given).catch(() => given);
  const projects = [...new Set([given, real, ...(worktrees ? await worktreesOf(real) : [])])];
  return projects.flatMap((project) => [
    ...(toolplane === undefined ? [] : [{ path: projectFolder(toolplane, project), project, isOwn: true }]),
    ...claudeProjects
      .filter((path) => isFolderOf(basename(path), project))
      .map((path) => ({ path, project, isOwn: false })),
  ]);
}

async function foldersIn(directory: string): Promise<string[]> {
  return (await namesIn(directory)).map((name) => join(directory, name));
}

/** Maximum length of a folder name of the `claude` CLI without a hash; longer names are truncated and end in a hash. */
const MAX_CLAUDE_NAME = 200;

/** Whether a folder of the `claude` CLI belongs to a project: its name is the path with dashes. */
function isFolderOf(name: string, path: string): boolean {
  const dashed = path.replace(/[^a-zA-Z0-9]/g, '-');
  if (dashed.length <= MAX_CLAUDE_NAME) return name === dashed;
  const prefix = `${dashed.slice(0, MAX_CLAUDE_NAME)}-`;
  return name.startsWith(prefix) && !name.slice(prefix.length).includes('-');
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** All work trees of the git repository that a directory is in. Reads the files of git; does not run git. */
async function worktreesOf(directory: string): Promise<string[]> {
  const gitDirectory = await findGitDirectory(directory);
  if (gitDirectory === undefined) return [];
  const common = resolve(gitDirectory, (await firstLine(join(gitDirectory, 'commondir'))) ?? '.');
  const linked = (await namesIn(join(common, 'worktrees'))).map((name) =>
    firstLine(join(common, 'worktrees', name, 'gitdir')),
  );
  const trees = (await Promise.all(linked)).flatMap((path) => (path === undefined ? [] : [dirname(path)]));
  // A bare repository has no main work tree.
  return basename(common) === '.git' ? [dirname(common), ...trees] : trees;
}

async function findGitDirectory(directory: string): Promise<string | undefined> {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(at, '.git');
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) return path;
    const [, target] = /^gitdir: (.+)$/.exec((found && (await firstLine(path))) ?? '') ?? [];
    if (target !== undefined) return resolve(at, target);
    if (at === dirname(at)) return undefined;
  }
}

async function firstLine(path: string): Promise<string | undefined> {
  return (await readFile(path, 'utf8').catch(() => undefined))?.split('\n', 1)[0];
}

/** Transcripts of the `claude` CLI contain copies of its requests: only both ends of a large one are read for a listing. */
const END_BYTES = 64 * 1024;

/** Reads the records that describe a session: those at both ends of a file, or all of a small file or of our own. */
export async function readEnds({ path, bytes }: Pick<TranscriptFile, 'path' | 'bytes'>): Promise<Records> {
  if (bytes <= 2 * END_BYTES) return readRecords(path);
  await using file = await open(path, constants.O_RDONLY);
  const part = async (position: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position);
    return buffer.toString('utf8', 0, bytesRead);
  };
  const head = parseRecords(await part(0));
  if (head.writer === 'toolplane' || head.records.length === 0) return await readRecords(path);
  const tail = await part(bytes - END_BYTES);
  // The first line of this part is the end of a longer one.
  return { ...head, records: [...head.records, ...parseRecords(tail.slice(tail.indexOf('\n') + 1)).records] };
}

export async function readRecords(path: string): Promise<Records> {
  return parseRecords(await readText(path));
}

/** Rejects before it reads a file that is larger than a string can be. */
async function readText(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > bufferConstants.MAX_STRING_LENGTH)
    throw new RangeError(
      `${path} is too large: ${size} bytes, more than ${bufferConstants.MAX_STRING_LENGTH}`,
    );
  return readFile(path, 'utf8');
}
