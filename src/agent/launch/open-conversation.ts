import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SessionOptions } from '../session/session.ts';
import { forkSession, forkSources } from '../transcript/fork-session.ts';
import { readTranscript, readTranscriptTo, type SessionContents } from '../transcript/read-transcript.ts';
import { findSession, isSessionId, latestSession } from '../transcript/session-files.ts';
import { Transcript, type TranscriptOptions } from '../transcript/transcript.ts';
import type { AgentFlags } from './flag-table.ts';

type KeepFlags = Pick<
  AgentFlags,
  'continue' | 'resume' | 'resumeSessionAt' | 'forkSession' | 'sessionId' | 'noPersistence'
>;

export type Keeping = {
  readonly root: string;
  readonly cwd: string;
  /** The kind of program that starts the session. */
  readonly entrypoint?: string | undefined;
  readonly now: () => Date;
  readonly note: (text: string) => void;
};

/** The conversation of a session, or why it cannot be opened. Only a fork writes to the disk before the first message. */
type OpenedConversation =
  | {
      readonly kept: Required<Pick<SessionOptions, 'sessionId' | 'messages'>> &
        Pick<SessionOptions, 'transcript' | 'resumedFrom' | 'earlierReplies' | 'title'>;
    }
  | { readonly fault: string };

/** Opens a new conversation, or the one that the flags name: continued, up to a message, or as a fork. */
export async function openConversation(flags: KeepFlags, keeping: Keeping): Promise<OpenedConversation> {
  const fault = faultOf(flags);
  if (fault !== undefined) return { fault };
  const { root, cwd, entrypoint, now, note } = keeping;
  const place = (sessionId: string): TranscriptOptions => ({
    root,
    cwd,
    sessionId,
    ...(entrypoint !== undefined && { entrypoint }),
    now,
    onUnwritable: note,
  });
  const found =
    flags.resume === undefined
      ? flags.continue && (await latestSession(root, cwd))
      : await findSession(root, cwd, flags.resume);
  // Like the `claude` CLI, --continue starts a new conversation if there is none.
  if (!found && flags.resume === undefined) {
    const sessionId = flags.sessionId ?? randomUUID();
    if (flags.sessionId !== undefined && (await findSession(root, cwd, sessionId)))
      return { fault: `--session-id ${sessionId} is in use; use --resume to continue that session` };
    const transcript = flags.noPersistence ? {} : { transcript: new Transcript(place(sessionId)) };
    return { kept: { sessionId, messages: [], ...transcript } };
  }
  if (!found)
    return {
      fault: `No conversation found with session ID: ${flags.resume} (--resume finds the sessions of ${cwd})`,
    };
  const contents = await read(found.path, flags.resumeSessionAt);
  if (!contents) return { fault: `--resume-session-at: conversation ${found.sessionId} has no such message` };
  // Another query may have continued the session too, which is no defect.
  const defects = contents.diagnostics.filter(({ fault: kind }) => kind !== 'other-branch');
  for (const { message } of defects) note(`${found.path}: ${message}`);
  const { messages, lastUuid: after } = contents;
  const earlierReplies = contents.entries.flatMap((entry) =>
    entry.type === 'assistant' ? [{ model: entry.model, usage: entry.usage }] : [],
  );
  const sessionId = flags.forkSession ? (flags.sessionId ?? randomUUID()) : found.sessionId;
  const forkedFrom = await forkSources(contents.header?.forkedFrom, { root, cwd });
  const { title } = contents;
  const earlier = { sessionId, messages, earlierReplies, ...(title !== undefined && { title }) };
  if (flags.noPersistence) return { kept: { ...earlier, resumedFrom: [found.path, ...forkedFrom] } };
  const transcript = flags.forkSession
    ? forkSession(contents, place(sessionId))
    : new Transcript({ ...place(sessionId), after });
  const resumedFrom = flags.forkSession ? [found.path, ...forkedFrom] : forkedFrom;
  return { kept: { ...earlier, transcript, ...(resumedFrom.length > 0 && { resumedFrom }) } };
}

/** Checks that the flags fit together, and that ids, which become parts of paths, are UUIDs. */
function faultOf({ sessionId, resume, continue: isContinued, forkSession, resumeSessionAt }: KeepFlags) {
  const isResumed = resume !== undefined || isContinued === true;
  if (sessionId !== undefined && !isSessionId(sessionId)) return '--session-id must be a UUID';
  if (resume !== undefined && !isSessionId(resume)) return '--resume must be a session id, which is a UUID';
  if (sessionId !== undefined && isResumed && !forkSession)
    return '--session-id can be combined with --resume or --continue only with --fork-session';
  if (resumeSessionAt !== undefined && !isResumed)
    return '--resume-session-at requires --resume or --continue';
  return undefined;
}

async function read(path: string, upTo: string | undefined): Promise<SessionContents | undefined> {
  const text = await readFile(path, 'utf8');
  return upTo === undefined ? readTranscript(text) : readTranscriptTo(text, upTo);
}
