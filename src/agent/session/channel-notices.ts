import { basename } from 'node:path';
import { SYSTEM_CLOCK } from '../../base/async/timers.ts';
import { formatChannelMessages } from '../../channels/channel-message.ts';
import { type ChannelBatch, Channels } from '../../channels/channels.ts';
import { messageKey } from '../../channels/stored-message.ts';
import type { NoticeSource } from '../tasks/notices.ts';
import type { Session } from './session.ts';

/** The messages of channels as notices: one for each server. */
export function channelNotices(channels: Pick<Channels, 'take' | 'delivered' | 'giveBack'>): NoticeSource {
  return {
    take(moment) {
      if (moment !== 'round' && moment !== 'idle') return undefined;
      const batch: ChannelBatch = channels.take(moment);
      if (batch.length === 0) return undefined;
      const bySource = Map.groupBy(batch, ({ source }) => source);
      return {
        notices: [...bySource].map(([server, messages]) => ({
          text: formatChannelMessages(messages),
          origin: { kind: 'channel', server },
          details: {
            channel_messages: messages.map(({ id, at, content, meta }) => ({ id, at, content, meta })),
          },
        })),
        channelMessages: batch.map(messageKey),
        stored: () => channels.delivered(batch),
        dropped: () => channels.giveBack(batch),
      };
    },
  };
}

/** Opens the channels of a session, if its options have any; their messages become notices. */
export function openSessionChannels(
  session: Pick<Session, 'options' | 'id' | 'servers' | 'notices'>,
  onPending: () => void,
): Channels | undefined {
  const { channels, channelMessages, workspace, resumedFrom = [], note } = session.options;
  if (!channels) return undefined;
  const opened = new Channels({
    owner: { project: workspace.cwd, conversation: session.id },
    settings: channels.settings,
    delivered: channelMessages ?? [],
    earlier: resumedFrom.map((path) => basename(path, '.jsonl')),
    clock: SYSTEM_CLOCK,
    openInbox: () => channels.openInbox(),
    connection: (server) => session.servers.connection(server),
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
