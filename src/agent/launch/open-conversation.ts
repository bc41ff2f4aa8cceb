import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SessionOptions } from '../session/session-options.ts';
import { findSession, latestSession } from '../transcript/find.ts';
import { fork } from '../transcript/fork.ts';
import { isSessionId } from '../transcript/place.ts';
import { readTranscript, readTranscriptTo, type SessionContents } from '../transcript/read.ts';
import { Transcript, type TranscriptOptions } from '../transcript/transcript.ts';
import type { AgentFlags } from './flag-table.ts';
import { forkSources } from './fork-sources.ts';

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
export type OpenedConversation =
  | {
      readonly kept: Required<Pick<SessionOptions, 'sessionId' | 'messages'>> &
        Pick<SessionOptions, 'transcript' | 'goesOnFrom'>;
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
  if (flags.noPersistence) return { kept: { sessionId, messages, goesOnFrom: [found.path, ...forkedFrom] } };
  const transcript = flags.forkSession
    ? fork(contents, place(sessionId))
    : new Transcript({ ...place(sessionId), after });
  const goesOnFrom = flags.forkSession ? [found.path, ...forkedFrom] : forkedFrom;
  return { kept: { sessionId, messages, transcript, ...(goesOnFrom.length > 0 && { goesOnFrom }) } };
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
