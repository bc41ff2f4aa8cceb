import {
  blocksOf,
  branchOf,
  idOf,
  isText,
  lastText,
  type TranscriptRecord,
  titleOf,
} from '../agent/transcript/transcript-records.ts';
import { sliceText } from '../base/text/display-text.ts';
import type { SDKSessionInfo, SessionMessage } from '../sdk/session-store.ts';

/** What the file system knows about a transcript. */
export type TranscriptFacts = Pick<SDKSessionInfo, 'sessionId' | 'lastModified' | 'fileSize' | 'cwd'> & {
  /** When the session was archived or unarchived last. */
  readonly archive?: { readonly archived: boolean; readonly at: string };
};

/** What is known about a session; undefined for a sub-agent's transcript, and for one without a title or prompt. */
export function sessionInfo(
  records: readonly TranscriptRecord[],
  { archive, ...facts }: TranscriptFacts,
): SDKSessionInfo | undefined {
  if (records[0]?.isSidechain === true) return undefined;
  const firstPrompt = promptOf(records);
  const customTitle = titleOf(records);
  const summary =
    customTitle ||
    lastText(records, 'last-prompt', 'lastPrompt') ||
    lastText(records, 'summary', 'summary') ||
    firstPrompt ||
    attachmentKind(records);
  if (!summary) return undefined;
  const gitBranch = records.findLast((record) => isText(record.gitBranch))?.gitBranch;
  const cwd = records.find((record) => isText(record.cwd))?.cwd;
  const tag = lastText(records, 'tag', 'tag');
  const createdAt = Date.parse(String(records.find(({ timestamp }) => isText(timestamp))?.timestamp));
  return {
    ...facts,
    summary,
    ...(customTitle && { customTitle }),
    ...(firstPrompt && { firstPrompt }),
    ...(isText(gitBranch) && { gitBranch }),
    ...(isText(cwd) && { cwd }),
    ...(tag && { tag }),
    ...(!Number.isNaN(createdAt) && { createdAt }),
    ...(archive && { archived: archive.archived && !isPromptedSince(records, archive.at) }),
  };
}

/** Whether a program or SDK, not a person at a terminal, started the session. */
export function isProgrammatic(records: readonly TranscriptRecord[]): boolean {
  const started = records.find(({ entrypoint }) => isText(entrypoint))?.entrypoint;
  return isText(started) && /^(?:sdk-|daemon)/.test(started);
}

/** Tags that only programs write: reminders, output of commands, context of an editor. */
const TAGGED = /^\s*<[a-z][\w-]*[\s>]/;
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]/;
const COMMAND = /<command-name>(.*?)<\/command-name>/;
const SHELL_INPUT = /<bash-input>([\s\S]*?)<\/bash-input>/;
const MAX_PROMPT_LENGTH = 200;

/** The first text that the user wrote, in one line; the name of a slash command if there is no other text. */
function promptOf(records: readonly TranscriptRecord[]): string | undefined {
  let command: string | undefined;
  for (const text of records.filter(isPrompt).flatMap(textsOf)) {
    const line = text.replaceAll('\n', ' ').trim();
    const [, name] = COMMAND.exec(line) ?? [];
    const [, shellInput] = SHELL_INPUT.exec(line) ?? [];
    command ??= name;
    if (line === '' || name !== undefined) continue;
    if (shellInput !== undefined) return `! ${shellInput}`;
    if (TAGGED.test(line) || INTERRUPTED.test(line)) continue;
    return line.length > MAX_PROMPT_LENGTH ? `${sliceText(line, MAX_PROMPT_LENGTH).trimEnd()}…` : line;
  }
  return command;
}

function isPrompt({ type, isMeta, isCompactSummary, message }: TranscriptRecord): boolean {
  if (type !== 'user' || isMeta === true || isCompactSummary === true) return false;
  return !blocksOf(message).some((block) => block.type === 'tool_result');
}

function textsOf({ message }: TranscriptRecord): string[] {
  return blocksOf(message).flatMap(({ type, text }) => (type === 'text' && isText(text) ? [text] : []));
}

/** The summary of a session whose prompts have no text. */
function attachmentKind(records: readonly TranscriptRecord[]): string | undefined {
  const types = records.filter(isPrompt).flatMap(({ message }) => blocksOf(message).map(({ type }) => type));
  const found = types.find((type) => type === 'image' || type === 'document');
  return found && (found === 'image' ? 'Image' : 'Document');
}

function isPromptedSince(records: readonly TranscriptRecord[], time: string): boolean {
  return records.some(
    (record) => isPrompt(record) && Date.parse(String(record.timestamp)) > Date.parse(time),
  );
}

/** What the messages of a sub-agent have in common. */
export type Parent = Pick<SessionMessage, 'parent_tool_use_id' | 'parent_agent_id'>;

/** The messages of the latest branch of a transcript, oldest first; `meta` adds those that the user did not write. */
export function sessionMessages(
  records: readonly TranscriptRecord[],
  parent: Parent,
  { system = false, sidechain = false, meta = false } = {},
): SessionMessage[] {
  const isShown = ({ type, isMeta, isSidechain, teamName }: TranscriptRecord) =>
    (type === 'user' || type === 'assistant' || (system && type === 'system')) &&
    (meta || isMeta !== true) &&
    (sidechain || isSidechain !== true) &&
    teamName === undefined;
  return branchOf(records, { sidechain })
    .filter(isShown)
    .map((record) => toMessage(record, parent));
}

/** The members after `parent_agent_id` are not in the official types, but in what the official function returns. */
function toMessage(record: TranscriptRecord, parent: Parent): SessionMessage {
  const { type, sessionId, message, timestamp, origin } = record;
  const isSummary = record.isCompactSummary === true;
  return {
    type,
    uuid: idOf(record),
    session_id: sessionId,
    message,
    ...parent,
    ...(isSummary && { isCompactSummary: true }),
    ...(record.isMeta === true && { isMeta: true }),
    ...(record.isQueuedCommand === true && { isQueuedCommand: true }),
    ...((isSummary || record.isVisibleInTranscriptOnly === true) && { is_meta: true }),
    ...(timestamp !== undefined && { timestamp }),
    ...(origin !== undefined && { origin }),
  } as SessionMessage;
}
