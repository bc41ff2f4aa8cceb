import { randomUUID } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import type { SessionOptions } from '../session/session.ts';
import { readTranscript, readTranscriptTo, type SessionContents } from '../transcript/read-transcript.ts';
import {
  findSession,
  isSessionId,
  latestSession,
  type SessionLocation,
  sessionPath,
} from '../transcript/session-files.ts';
import { fork, Transcript, type TranscriptOptions } from '../transcript/transcript.ts';
import { parseHeader } from '../transcript/transcript-entry.ts';
import type { AgentFlags } from './flag-table.ts';

type KeepFlags = Pick<
  AgentFlags,
  'continue' | 'resume' | 'resumeSessionAt' | 'forkSession' | 'sessionId' | 'noPersistence'
>;

/** Where conversations are kept, and who hears of what was lost. */
export type Keeping = {
  readonly root: string;
  readonly cwd: string;
  readonly now: () => Date;
  readonly note: (text: string) => void;
};

/** A conversation to go on with, or why there is none; nothing is written before something is said, unless it is a fork. */
type OpenedConversation =
  | {
      readonly kept: Required<Pick<SessionOptions, 'sessionId' | 'messages'>> &
        Pick<SessionOptions, 'transcript' | 'resumedFrom'>;
    }
  | { readonly fault: string };

/** A new conversation, or the one that the flags name: continued, up to a point of it, or as a copy. */
export async function openConversation(flags: KeepFlags, keeping: Keeping): Promise<OpenedConversation> {
  const fault = faultOf(flags);
  if (fault !== undefined) return { fault };
  const { root, cwd, now, note } = keeping;
  const place = (sessionId: string): TranscriptOptions => ({ root, cwd, sessionId, now, onUnwritable: note });
  if (flags.resume === undefined && !flags.continue) {
    const sessionId = flags.sessionId ?? randomUUID();
    // An id that was made just now is nobody's.
    if (flags.sessionId !== undefined && (await findSession(root, cwd, sessionId)))
      return { fault: `--session-id ${sessionId} is in use: --resume it` };
    const transcript = flags.noPersistence ? {} : { transcript: new Transcript(place(sessionId)) };
    return { kept: { sessionId, messages: [], ...transcript } };
  }
  const found =
    flags.resume === undefined ? await latestSession(root, cwd) : await findSession(root, cwd, flags.resume);
  if (!found) {
    const what =
      flags.resume === undefined
        ? '--continue: there is no conversation'
        : `--resume ${flags.resume}: there is no such conversation`;
    return { fault: `${what} in ${cwd}` };
  }
  const contents = await read(found.path, flags.resumeSessionAt);
  if (!contents)
    return { fault: `--resume-session-at: the conversation ${found.sessionId} has no such message` };
  for (const { message } of contents.diagnostics) note(`${found.path}: ${message}`);
  const { messages, lastUuid: after } = contents;
  const sessionId = flags.forkSession ? (flags.sessionId ?? randomUUID()) : found.sessionId;
  const forkedFrom = await forkSources(contents.header?.forkedFrom, { root, cwd });
  if (flags.noPersistence) return { kept: { sessionId, messages, resumedFrom: [found.path, ...forkedFrom] } };
  const transcript = flags.forkSession
    ? fork(contents, place(sessionId))
    : new Transcript({ ...place(sessionId), after });
  const resumedFrom = flags.forkSession ? [found.path, ...forkedFrom] : forkedFrom;
  return { kept: { sessionId, messages, transcript, ...(resumedFrom.length > 0 && { resumedFrom }) } };
}

/** Ids become parts of paths, so nothing else is taken for one. */
function faultOf({ sessionId, resume, continue: isContinued, forkSession, resumeSessionAt }: KeepFlags) {
  const isResumed = resume !== undefined || isContinued === true;
  if (sessionId !== undefined && !isSessionId(sessionId)) return '--session-id takes a UUID';
  if (resume !== undefined && !isSessionId(resume)) return '--resume takes the id of a session, a UUID';
  if (sessionId !== undefined && isResumed && !forkSession)
    return '--session-id goes with --resume only for a --fork-session';
  if (forkSession && !isResumed) return '--fork-session needs --resume or --continue';
  if (resumeSessionAt !== undefined && !isResumed) return '--resume-session-at needs --resume or --continue';
  return undefined;
}

async function read(path: string, upTo: string | undefined): Promise<SessionContents | undefined> {
  const text = await readFile(path, 'utf8');
  return upTo === undefined ? readTranscript(text) : readTranscriptTo(text, upTo);
}

/** A header is one short line. */
const LONGEST_HEADER = 64 * 1024;
/** Longer rows of copies of copies are not followed to their beginning. */
const MOST = 20;

/** The file of the session that one was forked from, of the one that was forked from, and so on; also those that are gone. */
export async function forkSources(
  forkedFrom: string | undefined,
  place: Omit<SessionLocation, 'sessionId'>,
): Promise<string[]> {
  const paths: string[] = [];
  let next = forkedFrom;
  while (next !== undefined && isSessionId(next) && paths.length < MOST) {
    const path = sessionPath({ ...place, sessionId: next });
    if (paths.includes(path)) break;
    paths.push(path);
    next = await readForkedFrom(path);
  }
  return paths;
}

/** What cannot be read says nothing. */
async function readForkedFrom(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_HEADER), 0, LONGEST_HEADER, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return parseHeader(JSON.parse(line))?.forkedFrom;
  } catch {
    return undefined;
  }
}
