import { randomUUID } from 'node:crypto';
import type { FlagNames } from '../../protocol/launch-flag.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { SessionOptions } from '../session/session.ts';
import { totalsOf } from '../transcript/earlier-totals.ts';
import type { SessionContents } from '../transcript/read-transcript.ts';
import {
  findByPath,
  findTitled,
  hasStoredSession,
  isSessionId,
  latestSession,
  readStoredSession,
} from '../transcript/session-files.ts';
import { forkSession, forkSources, Transcript, type TranscriptOptions } from '../transcript/transcript.ts';
import type { AgentFlags } from './flag-table.ts';

type KeepFlags = Pick<
  AgentFlags,
  'continue' | 'resume' | 'resumeSessionAt' | 'forkSession' | 'sessionId' | 'noPersistence'
>;

export type Keeping = {
  readonly root: string;
  readonly cwd: string;
  /** The directory of the `claude` CLI for the user, whose sessions can be resumed too. */
  readonly claudeHome?: string;
  /** The kind of program that starts the session. */
  readonly entrypoint?: string | undefined;
  readonly now: () => Date;
  readonly note: (text: string) => void;
  /** How messages name a flag. */
  readonly nameOf: FlagNames;
};

/**
 * The conversation of a session, why there is none to resume, or which flags are invalid. Only a fork writes to the
 * disk before the first message.
 */
type OpenedConversation =
  | {
      readonly kept: Required<Pick<SessionOptions, 'sessionId' | 'messages'>> &
        Pick<
          SessionOptions,
          'transcript' | 'resumedFrom' | 'earlierReplies' | 'channelMessages' | 'unansweredMessages' | 'title'
        >;
    }
  | { readonly missing: { readonly sessionId: string; readonly reason: string } }
  | { readonly fault: string };

/** Opens a new conversation, or the one that the flags name: continued, up to a message, or as a fork. */
export async function openConversation(flags: KeepFlags, keeping: Keeping): Promise<OpenedConversation> {
  const fault = faultOf(flags, keeping.nameOf);
  if (fault !== undefined) return { fault };
  const { root, cwd, entrypoint, now, note, nameOf } = keeping;
  const place = (sessionId: string): TranscriptOptions => ({
    root,
    cwd,
    sessionId,
    ...(entrypoint !== undefined && { entrypoint }),
    now,
    onUnwritable: note,
  });
  const missing = (reason: string) => ({ missing: { sessionId: requestedId(flags), reason } });
  const unreadable = (cause: unknown) => `The session cannot be read: ${messageOf(cause)}`;
  const resumed = await findSelected(flags, keeping).catch(unreadable);
  if (typeof resumed === 'string') return missing(resumed);
  // Like the `claude` CLI, --continue starts a new conversation if there is none.
  if (resumed === undefined) {
    const sessionId = flags.sessionId ?? randomUUID();
    if (flags.sessionId !== undefined && (await hasStoredSession(sessionId, keeping)))
      return {
        fault: `${nameOf('session-id')} ${sessionId} is in use; use ${nameOf('resume')} to continue that session`,
      };
    const transcript = flags.noPersistence ? {} : { transcript: new Transcript(place(sessionId)) };
    return { kept: { sessionId, messages: [], ...transcript } };
  }
  const found = await readStoredSession(resumed.sessionId, keeping, {
    upTo: flags.resumeSessionAt,
    // A fork copies all entries.
    isWhole: flags.forkSession === true,
  }).catch(unreadable);
  if (typeof found === 'string') return missing(found);
  // Programs match this message.
  if (!found) return missing(`No conversation found with session ID: ${resumed.sessionId}`);
  const { contents } = found;
  if (!contents) return missing(`No message found with message.uuid of: ${flags.resumeSessionAt}`);
  // Another query may have continued the session too, which is no defect.
  const defects = contents.diagnostics.filter(({ fault: kind }) => kind !== 'other-branch');
  for (const { message } of defects) note(`${found.path}: ${message}`);
  const { messages } = contents;
  const sessionId = flags.forkSession ? (flags.sessionId ?? randomUUID()) : found.sessionId;
  const forkedFrom = await forkSources(contents.header?.forkedFrom, keeping);
  const files = [found.path, ...(found.otherPath === undefined ? [] : [found.otherPath]), ...forkedFrom];
  const { title } = contents;
  const { replies, channelMessages, unanswered } = totalsOf(contents.entries);
  const earlier = {
    sessionId,
    messages,
    earlierReplies: replies,
    ...(channelMessages.length > 0 && { channelMessages }),
    ...(unanswered.length > 0 && { unansweredMessages: unanswered }),
    ...(title !== undefined && { title }),
  };
  if (flags.noPersistence) return { kept: { ...earlier, resumedFrom: files } };
  const transcript = flags.forkSession
    ? forkSession(contents, place(sessionId))
    : new Transcript({
        ...place(sessionId),
        ...startOf(contents),
        after: found.after,
        beginning: found.missing,
      });
  const resumedFrom = files.filter((path) => path !== transcript.path);
  return { kept: { ...earlier, transcript, ...(resumedFrom.length > 0 && { resumedFrom }) } };
}

/** A resumed session keeps the `entrypoint` with which it was started. */
function startOf({ header }: SessionContents): Pick<TranscriptOptions, 'entrypoint'> {
  return header?.entrypoint === undefined ? {} : { entrypoint: header.entrypoint };
}

/** The session that the flags select, undefined for a new one; else why there is none. */
async function findSelected({ resume, continue: isContinued }: KeepFlags, keeping: Keeping) {
  // Like the `claude` CLI, --continue takes precedence.
  if (isContinued) return latestSession(keeping.root, keeping.cwd, keeping.claudeHome);
  return resume === undefined ? undefined : findResumed(resume, keeping);
}

/** The session with that id, which may not exist, with that transcript or with that title; else why there is none. */
async function findResumed(
  resume: string,
  keeping: Keeping,
): Promise<{ readonly sessionId: string } | string> {
  if (isSessionId(resume.trim())) return { sessionId: resume.trim() };
  const stored = await findByPath(resume.trim(), keeping);
  if (stored) return stored;
  const titled = await findTitled(resume, keeping);
  const [found] = titled;
  const option = keeping.nameOf('resume');
  const given = JSON.stringify(resume);
  if (!found && resume.trim().endsWith('.jsonl'))
    return `${option} ${given} is not the transcript of a session in ${keeping.cwd}; resume the session by its id, in the directory where it was started`;
  if (!found)
    return `${option} requires a valid session ID or session title: ${given} is not a UUID, and no session in ${keeping.cwd} has this title`;
  if (titled.length === 1) return found;
  const ids = titled.map((it) => `${it.sessionId} (${new Date(it.modifiedAt).toISOString()})`);
  return `${option} ${given} is the title of ${titled.length} sessions; resume one of them by its id: ${ids.join(', ')}`;
}

/** The id that the session would have had. */
function requestedId({ resume = '', continue: isContinued, forkSession, sessionId }: KeepFlags): string {
  const resumed = resume.trim();
  return !forkSession && !isContinued && isSessionId(resumed) ? resumed : (sessionId ?? randomUUID());
}

/** Checks that the flags fit together, and that an id, which becomes part of a path, is a UUID. */
function faultOf(
  { sessionId, resume, continue: isContinued, forkSession, resumeSessionAt }: KeepFlags,
  nameOf: FlagNames,
) {
  const isResumed = resume !== undefined || isContinued === true;
  const either = `${nameOf('resume')} or ${nameOf('continue')}`;
  if (sessionId !== undefined && !isSessionId(sessionId)) return `${nameOf('session-id')} must be a UUID`;
  if (sessionId !== undefined && isResumed && !forkSession)
    return `${nameOf('session-id')} can be combined with ${either} only with ${nameOf('fork-session')}`;
  if (resumeSessionAt !== undefined && !isResumed) return `${nameOf('resume-session-at')} requires ${either}`;
  return undefined;
}
