import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  findTranscript,
  findTranscripts,
  isSessionId,
  listTranscripts,
  readEnds,
  readRecords,
  sessionFolder,
  type TranscriptFile,
  type TranscriptRoots,
} from '../agent/transcript/session-files.ts';
import { forkTranscript, parseRecords } from '../agent/transcript/transcript-records.ts';
import { isRecord } from '../base/json-value.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type {
  ForkSessionOptions,
  ForkSessionResult,
  GetSessionInfoOptions,
  GetSessionMessagesOptions,
  GetSubagentMessagesOptions,
  ListSessionsOptions,
  ListSubagentsOptions,
  SDKSessionInfo,
  SessionMessage,
  SessionMutationOptions,
} from '../sdk/session-store.ts';
import {
  isProgrammatic,
  type Parent,
  sessionInfo,
  sessionMessages,
  type TranscriptFacts,
} from './read-session.ts';

/** How many transcripts are read at the same time. */
const MAX_CONCURRENT_READS = 32;

/** The sessions of one project or of all projects, the most recently changed first. */
export async function listSessions(
  roots: TranscriptRoots,
  options: ListSessionsOptions = {},
): Promise<SDKSessionInfo[]> {
  const {
    dir,
    limit = 0,
    offset = 0,
    includeWorktrees = true,
    includeProgrammatic = true,
  } = checked(options);
  const files = await listTranscripts(roots, { dir, worktrees: includeWorktrees });
  const start = Math.max(0, offset);
  const end = limit > 0 ? start + limit : Number.POSITIVE_INFINITY;
  const found: SDKSessionInfo[] = [];
  for (let at = 0; at < files.length && found.length < end; at += MAX_CONCURRENT_READS) {
    const part = files.slice(at, at + MAX_CONCURRENT_READS);
    const infos = await Promise.all(part.map((file) => infoOf(file, { includeProgrammatic })));
    found.push(...infos.filter((info) => info !== undefined));
  }
  return found.slice(start, end);
}

/** What is known about one session; undefined if there is no such session. */
export async function getSessionInfo(
  roots: TranscriptRoots,
  sessionId: string,
  options: GetSessionInfoOptions = {},
): Promise<SDKSessionInfo | undefined> {
  const file = await findTranscript(roots, String(sessionId), checked(options));
  return file && infoOf(file, { includeProgrammatic: true });
}

/** The messages of a session, oldest first; none if there is no such session. */
export async function getSessionMessages(
  roots: TranscriptRoots,
  sessionId: string,
  options: GetSessionMessagesOptions = {},
  { meta = false } = {},
): Promise<SessionMessage[]> {
  const file = await findTranscript(roots, String(sessionId), checked(options));
  if (!file) return [];
  const { records } = await readRecords(file.path);
  const system = options.includeSystemMessages === true;
  return page(
    sessionMessages(records, { parent_tool_use_id: null, parent_agent_id: null }, { system, meta }),
    options,
  );
}

const SUB_AGENT_FILE = /^agent-([\w-]+)\.jsonl$/;

/** The ids of the sub-agents of a session. */
export async function listSubagents(
  roots: TranscriptRoots,
  sessionId: string,
  options: ListSubagentsOptions = {},
): Promise<string[]> {
  const files = await findTranscripts(roots, String(sessionId), checked(options));
  const names = files.map((file) => readdir(join(sessionFolder(file), 'subagents')).catch(() => []));
  const all = (await Promise.all(names)).flat();
  return [...new Set(all.flatMap((name) => SUB_AGENT_FILE.exec(name)?.[1] ?? []))];
}

/** The messages of a sub-agent, oldest first; none if there is no such sub-agent. */
export async function getSubagentMessages(
  roots: TranscriptRoots,
  sessionId: string,
  agentId: string,
  options: GetSubagentMessagesOptions = {},
): Promise<SessionMessage[]> {
  const files = await findTranscripts(roots, String(sessionId), checked(options));
  const name = `agent-${agentId}.jsonl`;
  if (!SUB_AGENT_FILE.test(name)) return [];
  for (const file of files) {
    const path = join(sessionFolder(file), 'subagents', name);
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { records, toolUseId } = parseRecords(text);
    const parent = parentOf({ toolUseId, ...(await readJson(path.replace(/\.jsonl$/, '.meta.json'))) });
    return page(sessionMessages(records, parent, { sidechain: true }), options);
  }
  return [];
}

function parentOf({ toolUseId, parentAgentId }: Readonly<Record<string, unknown>>): Parent {
  return {
    parent_tool_use_id: typeof toolUseId === 'string' ? toolUseId : null,
    parent_agent_id: typeof parentAgentId === 'string' ? parentAgentId : null,
  };
}

/** Sets the title of a session. */
export async function renameSession(
  roots: TranscriptRoots,
  sessionId: string,
  title: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const customTitle = String(title).trim();
  if (customTitle === '') throw new SdkError('bad-option', 'title must be non-empty');
  const file = await requireTranscript(roots, sessionId, options);
  await appendMetadata(file, { title: customTitle }, { type: 'custom-title', customTitle });
}

/** Sets the tag of a session; null removes it. */
export async function tagSession(
  roots: TranscriptRoots,
  sessionId: string,
  tag: string | null,
  options: SessionMutationOptions = {},
): Promise<void> {
  const visible =
    tag === null
      ? ''
      : String(tag)
          .replaceAll(/[\p{Cf}\p{Co}\p{Cn}]/gu, '')
          .trim();
  if (tag !== null && visible === '')
    throw new SdkError('bad-option', 'tag must be non-empty (use null to clear)');
  const file = await requireTranscript(roots, sessionId, options);
  await appendMetadata(file, { tag: visible }, { type: 'tag', tag: visible });
}

/** Deletes all transcripts of a session and the files that belong to them. */
export async function deleteSession(
  roots: TranscriptRoots,
  sessionId: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  await requireTranscript(roots, sessionId, options);
  for (const file of await findTranscripts(roots, sessionId, checked(options))) {
    await rm(file.path);
    await rm(sessionFolder(file), { recursive: true, force: true });
  }
}

/** Marks a session as archived, or removes the mark. The transcript stays unchanged. */
export async function archiveSession(
  roots: TranscriptRoots,
  sessionId: string,
  archived: boolean,
  options: SessionMutationOptions = {},
): Promise<void> {
  const file = await requireTranscript(roots, sessionId, options);
  await mkdir(sessionFolder(file), { recursive: true, mode: 0o700 });
  const mark = { archived, at: new Date().toISOString(), by: 'sdk' };
  await writeFile(archiveFile(file), JSON.stringify(mark), { mode: 0o600 });
}

/** Copies a session, or its beginning, to a new one with new ids. */
export async function forkSession(
  roots: TranscriptRoots,
  sessionId: string,
  options: ForkSessionOptions = {},
): Promise<ForkSessionResult> {
  const file = await requireTranscript(roots, sessionId, options);
  const text = await readFile(file.path, 'utf8');
  const info = sessionInfo(parseRecords(text).records, factsOf(file));
  const to = randomUUID();
  const { upToMessageId } = options;
  const copy = forkTranscript(text, {
    from: sessionId,
    to,
    title: options.title?.trim() || `${info?.customTitle ?? info?.firstPrompt ?? 'Forked session'} (fork)`,
    now: new Date(),
    ...(upToMessageId && { upTo: upToMessageId }),
  });
  if (copy === 'empty') throw new SdkError('unknown-session', `Session ${sessionId} has no messages to fork`);
  if (copy === undefined) {
    throw new SdkError('bad-option', `Message ${upToMessageId} not found in session ${sessionId}`);
  }
  await writeFile(join(dirname(file.path), `${to}.jsonl`), copy, { flag: 'wx', mode: 0o600 });
  return { sessionId: to };
}

async function infoOf(
  file: TranscriptFile,
  { includeProgrammatic }: { readonly includeProgrammatic: boolean },
): Promise<SDKSessionInfo | undefined> {
  // A transcript may be deleted while it is listed.
  const read = await readEnds(file).catch(() => undefined);
  if (!read || (!includeProgrammatic && isProgrammatic(read.records))) return undefined;
  const { archived, at } = await readJson(archiveFile(file));
  const isMark = typeof archived === 'boolean' && typeof at === 'string';
  return sessionInfo(read.records, { ...factsOf(file), ...(isMark && { archive: { archived, at } }) });
}

function factsOf({ sessionId, modifiedAt, bytes, project }: TranscriptFile): TranscriptFacts {
  const facts = { sessionId, lastModified: modifiedAt, fileSize: bytes };
  return project === undefined ? facts : { ...facts, cwd: project };
}

function archiveFile(file: TranscriptFile): string {
  return join(sessionFolder(file), 'archived.json');
}

/** An empty object if the file cannot be read. */
async function readJson(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

async function requireTranscript(
  roots: TranscriptRoots,
  sessionId: string,
  options: SessionMutationOptions,
): Promise<TranscriptFile> {
  const { dir } = checked(options);
  if (!isSessionId(String(sessionId))) throw new SdkError('bad-option', `Invalid sessionId: ${sessionId}`);
  const found = await findTranscript(roots, sessionId, { dir });
  if (found) return found;
  const where = dir ? `project directory for ${dir}` : 'any project directory';
  throw new SdkError('unknown-session', `Session ${sessionId} not found in ${where}`);
}

/** Adds a line of metadata in the format of the file. The file must exist. */
async function appendMetadata(
  { path, sessionId, bytes }: TranscriptFile,
  own: { readonly title?: string; readonly tag?: string },
  record: object,
): Promise<void> {
  await using file = await open(path, constants.O_RDWR | constants.O_APPEND);
  const { buffer: last } = await file.read(Buffer.alloc(1), 0, 1, bytes - 1);
  const head = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  const { writer } = parseRecords(head.buffer.toString('utf8', 0, head.bytesRead));
  const timestamp = new Date().toISOString();
  const meta = { type: 'meta', uuid: randomUUID(), parentUuid: null, timestamp, sessionId, ...own };
  const line = JSON.stringify(writer === 'toolplane' ? meta : { ...record, sessionId });
  // A truncated last line must not swallow the new one.
  await file.appendFile(`${last.toString() === '\n' ? '' : '\n'}${line}\n`);
}

/** The first line of Toolplane's transcripts is a short header. */
const HEADER_BYTES = 64 * 1024;

function page<T>(items: readonly T[], { limit = 0, offset = 0 }: { limit?: number; offset?: number }): T[] {
  const start = Math.max(0, offset);
  return items.slice(start, limit > 0 ? start + limit : undefined);
}

/** Session stores are not supported. */
function checked<T extends { sessionStore?: unknown }>(options: T): T {
  if (options.sessionStore) {
    throw new SdkError(
      'unsupported-option',
      'options.sessionStore is not supported: the session functions read and write transcript files',
    );
  }
  return options;
}
