import { constants } from 'node:fs';
import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isSessionId, projectFolder, sessionIdOf } from '../agent/transcript/session-files.ts';
import { parseRecords, type Records } from './transcript-records.ts';

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
export type ProjectSelection = { readonly dir?: string | undefined; readonly worktrees?: boolean };

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
    .sort((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1));
  const seen = new Set<string>();
  return files.filter(({ sessionId }) => !seen.has(sessionId) && seen.add(sessionId));
}

/** The transcript of a session; undefined if there is none or the id is invalid. */
export async function findTranscript(
  roots: TranscriptRoots,
  sessionId: string,
  selection: ProjectSelection,
): Promise<TranscriptFile | undefined> {
  if (!isSessionId(sessionId)) return undefined;
  for (const folder of await projectFolders(roots, selection)) {
    const found = await transcriptIn(folder, sessionId);
    if (found) return found;
  }
  return undefined;
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
  const path = join(folder.path, `${sessionId}.jsonl`);
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

type ProjectFolder = { readonly path: string; readonly project?: string };

async function projectFolders(
  { toolplane, claude }: TranscriptRoots,
  { dir, worktrees = true }: ProjectSelection,
): Promise<ProjectFolder[]> {
  const claudeProjects = claude === undefined ? [] : await foldersIn(join(claude, 'projects'));
  if (!dir) {
    const own = toolplane === undefined ? [] : await foldersIn(join(toolplane, 'projects'));
    return [...own, ...claudeProjects].map((path) => ({ path }));
  }
  const given = resolve(dir);
  const real = await realpath(given).catch(() => given);
  const projects = [...new Set([given, real, ...(worktrees ? await worktreesOf(real) : [])])];
  return projects.flatMap((project) => [
    ...(toolplane === undefined ? [] : [{ path: projectFolder(toolplane, project), project }]),
    ...claudeProjects
      .filter((path) => isFolderOf(basename(path), project))
      .map((path) => ({ path, project })),
  ]);
}

async function foldersIn(directory: string): Promise<string[]> {
  return (await namesIn(directory)).map((name) => join(directory, name));
}

/** Longer names end in a hash in the folders of the `claude` CLI. */
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
export async function readEnds({ path, bytes }: TranscriptFile): Promise<Records> {
  if (bytes <= 2 * END_BYTES) return readRecords(path);
  await using file = await open(path, constants.O_RDONLY);
  const part = async (position: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position);
    return buffer.toString('utf8', 0, bytesRead);
  };
  const head = parseRecords(await part(0));
  if (head.writer === 'toolplane' || head.records.length === 0) return readRecords(path);
  const tail = await part(bytes - END_BYTES);
  // The first line of this part is the end of a longer one.
  return { ...head, records: [...head.records, ...parseRecords(tail.slice(tail.indexOf('\n') + 1)).records] };
}

export async function readRecords(path: string): Promise<Records> {
  return parseRecords(await readFile(path, 'utf8'));
}
