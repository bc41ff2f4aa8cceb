import type { TranscriptRoots } from '../../../agent/transcript/session-files.ts';
import { isRecord } from '../../../base/json-value.ts';
import { parseChannelMessages } from '../../../channels/channel-message.ts';
import type { SDKMessage } from '../../../protocol/agent-message.ts';
import type { Choice } from '../../terminal/line-editor.ts';
import { sanitizeLine, truncateToWidth } from '../../terminal/terminal-text.ts';

/** A stored conversation. */
export type StoredConversation = {
  readonly id: string;
  readonly title: string;
  readonly lastModified: number;
};

/** The stored conversations of a directory. */
export type StoredConversations = {
  /** The most recently written first. */
  list(cwd: string): Promise<readonly StoredConversation[]>;
  /** The messages, oldest first. */
  read(cwd: string, id: string): Promise<readonly unknown[]>;
};

const MAX_LISTED = 50;

/** The conversations below these directories. */
export function storedConversations(roots: TranscriptRoots): StoredConversations {
  // The module is loaded when it is used, since a chat can start without it.
  const load = () => import('../../../sessions/session-functions.ts');
  return {
    async list(dir) {
      const { listSessions } = await load();
      const sessions = await listSessions(roots, { dir, limit: MAX_LISTED, includeWorktrees: false });
      return sessions.map(({ sessionId: id, summary: title, lastModified }) => ({ id, title, lastModified }));
    },
    async read(dir, id) {
      const { getSessionMessages } = await load();
      return getSessionMessages(roots, id, { dir }, { meta: true });
    },
  };
}

/** The entries of the list of `/resume`. */
export function resumeChoices(stored: readonly StoredConversation[], now: number): Choice[] {
  return stored.map(({ id, title, lastModified }) => ({
    label: truncateToWidth(sanitizeLine(title) || '(no prompt)', 60),
    detail: `${ageText(now - lastModified)} · ${id.slice(0, 8)}`,
  }));
}

/** The conversation that an argument of `/resume` names: an id or the start of one, or a part of a title. */
export function findConversation(
  stored: readonly StoredConversation[],
  argument: string,
): StoredConversation | undefined {
  const wanted = argument.toLowerCase();
  return (
    stored.find(({ id }) => id === argument) ??
    stored.find(({ id }) => wanted.length >= 4 && id.startsWith(wanted)) ??
    stored.find(({ title }) => title.toLowerCase().includes(wanted))
  );
}

function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}

/** One step of a replayed conversation: a prompt of the user, its interruption, or a message of the agent. */
export type Replayed =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'message'; readonly message: SDKMessage };

/** The number of messages that are shown of a resumed conversation. */
const MAX_REPLAYED = 60;

/** The last messages of a stored conversation, as the chat received them. */
export function replayedMessages(stored: readonly unknown[]): {
  readonly messages: readonly Replayed[];
  readonly hidden: number;
} {
  const all = stored.filter(isRecord).flatMap(replayed);
  // The first shown message is a prompt, so that no result is shown without its call.
  const from = all.findIndex(({ kind }, at) => kind === 'prompt' && at >= all.length - MAX_REPLAYED);
  const start = all.length <= MAX_REPLAYED ? 0 : from < 0 ? all.length - MAX_REPLAYED : from;
  return { messages: all.slice(start), hidden: start };
}

/** Text that starts with a tag was written by a program, not by the user. */
const TAGGED = /^\s*<[a-z][\w-]*[\s>]/;
/** The agent's note that the user interrupted the turn. */
const INTERRUPTED = /^\[Request interrupted by user[^\]]*\]$/;
const SHELL_INPUT = /^<bash-input>([\s\S]*?)<\/bash-input>/;

function replayed(stored: Readonly<Record<string, unknown>>): Replayed[] {
  const { type, message } = stored;
  if (!isRecord(message) || (type !== 'user' && type !== 'assistant')) return [];
  const frame = { ...stored, parent_tool_use_id: null } as unknown as SDKMessage;
  if (type === 'assistant')
    return Array.isArray(message.content) ? [{ kind: 'message', message: frame }] : [];
  const blocks =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  if (!Array.isArray(blocks)) return [];
  const texts = blocks
    .filter(isRecord)
    .flatMap(({ type: kind, text }) => (kind === 'text' ? [String(text)] : []));
  const pushed = texts.flatMap(channelMessages);
  if (stored.isMeta === true) return pushed;
  const isInterrupted = texts.some((text) => INTERRUPTED.test(text));
  const typed = texts.flatMap((text) => {
    if (INTERRUPTED.test(text)) return [];
    const [, command] = SHELL_INPUT.exec(text) ?? [];
    if (command !== undefined) return [`! ${command}`];
    return TAGGED.test(text) || channelMessages(text).length > 0 ? [] : [text];
  });
  const hasResults = blocks.some((block) => isRecord(block) && block.type === 'tool_result');
  return [
    ...(hasResults ? [{ kind: 'message', message: frame } as const] : []),
    ...pushed,
    ...(typed.length > 0 && !hasResults ? [{ kind: 'prompt', text: typed.join('\n') } as const] : []),
    ...(isInterrupted ? [{ kind: 'interrupted' } as const] : []),
  ];
}

/** The messages of channels in a text, as the chat received them. */
function channelMessages(text: string): Replayed[] {
  return parseChannelMessages(text).map(({ source, content }) => {
    const message = {
      type: 'user',
      message: { role: 'user', content: [] },
      parent_tool_use_id: null,
      origin: { kind: 'channel', server: source },
      channel_messages: [{ content }],
    };
    return { kind: 'message', message: message as unknown as SDKMessage };
  });
}
