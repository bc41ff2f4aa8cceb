import { basename } from 'node:path';
import { SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { formatChannelMessages } from '../../channels/channel-message.ts';
import { type ChannelBatch, Channels } from '../../channels/channels.ts';
import { messageKey } from '../../channels/stored-message.ts';
import type { Notice, NoticeSource } from '../tasks/notices.ts';
import type { Session } from './session.ts';

/** The messages of channels as notices: one for each server. */
export function channelNotices(
  channels: Pick<Channels, 'take' | 'takeKnown' | 'delivered' | 'giveBack'>,
): NoticeSource {
  return {
    take(moment) {
      const known = moment === 'idle' || moment === 'prompt' ? channels.takeKnown() : [];
      const batch = moment === 'idle' || moment === 'round' ? channels.take(moment) : [];
      const all = [...known, ...batch];
      if (all.length === 0) return undefined;
      return {
        notices: [
          ...noticesOf(known).map((notice) => ({ ...notice, isKnown: true as const })),
          ...noticesOf(batch),
        ],
        channelMessages: batch.map(messageKey),
        stored: () => channels.delivered(all),
        dropped: () => channels.giveBack(all),
      };
    },
  };
}

function noticesOf(batch: ChannelBatch): Notice[] {
  const bySource = Map.groupBy(batch, ({ source }) => source);
  return [...bySource].map(([server, messages]) => ({
    text: formatChannelMessages(messages),
    origin: { kind: 'channel', server },
    details: { channel_messages: messages.map(({ id, at, content, meta }) => ({ id, at, content, meta })) },
  }));
}

/** Opens the channels of a session, if its options have any; their messages become notices. */
export function openSessionChannels(
  session: Pick<Session, 'options' | 'id' | 'servers' | 'notices' | 'conversation'>,
  onPending: () => void,
): Channels | undefined {
  const { channels, channelMessages, workspace, resumedFrom = [], note } = session.options;
  if (!channels) return undefined;
  const opened = new Channels({
    owner: { project: workspace.cwd, conversation: session.id },
    settings: channels.settings,
    known: channelMessages ?? [],
    unanswered: () => session.conversation.unansweredMessages,
    earlier: resumedFrom.map((path) => basename(path, '.jsonl')),
    clock: SYSTEM_CLOCK,
    openInbox: () => channels.openInbox(),
    connection: (server) => session.servers.connection(server),
    connecting: (server) =>
      session.servers.all.get(server)?.state.kind === 'pending' ? session.servers.connect(server) : undefined,
    onPending,
    note: (text) => note?.(text),
  });
  session.notices.add(channelNotices(opened));
  return opened;
}

/** What is wrong with the channels that were requested by name. */
export function unknownChannels(
  { channels }: Session['options'],
  servers: Pick<Session['servers'], 'all'>,
): string[] {
  const unknown = (channels?.requested ?? []).filter((name) => !servers.all.has(name));
  return unknown.map(
    (name) => `channel "${name}": there is no server with this name; check the name, or add the server`,
  );
}
