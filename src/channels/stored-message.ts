import type { SQLInputValue } from 'node:sqlite';
import type { PushedMessage } from './channel-message.ts';

export const MESSAGE_STATES = ['pending', 'delivered', 'quarantined', 'expired'] as const;

/**
 * `quarantined`: the size limit or the list of senders keeps the message out of the conversation until a person
 * releases it. `expired`: it was pending for too long.
 */
export type MessageState = (typeof MESSAGE_STATES)[number];

/** A message in the inbox. */
export type StoredMessage = PushedMessage & {
  /** The position of the message among all messages. */
  readonly seq: number;
  readonly id: string;
  readonly project: string;
  /** The key of the server that pushed the message. */
  readonly source: string;
  /** When the message was stored, in milliseconds since 1970. */
  readonly at: number;
  readonly state: MessageState;
  /** Why the message is quarantined. */
  readonly reason?: string;
};

/** Identifies a message in a transcript. A slash in the name of a server is escaped, so that no other message has this key. */
export function messageKey({ source, id }: Pick<StoredMessage, 'source' | 'id'>): string {
  return `${source.replaceAll('%', '%25').replaceAll('/', '%2F')}/${id}`;
}

export type MessageFilter = {
  readonly project?: string;
  readonly source?: string;
  readonly states?: readonly MessageState[];
  /** The id of a message, or its source and id: `source/id`. */
  readonly named?: string;
  readonly before?: number;
};

/** The condition of SQL for a filter. */
export function whereOf({ project, source, states, named, before }: MessageFilter): {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
} {
  const conditions: (readonly [string, SQLInputValue])[] = [
    ...(project === undefined ? [] : [['project = ?', project] as const]),
    ...(source === undefined ? [] : [['source = ?', source] as const]),
    ...(states === undefined
      ? []
      : [['state IN (SELECT value FROM json_each(?))', JSON.stringify(states)] as const]),
    ...(named === undefined ? [] : [["? IN (id, source || '/' || id)", named] as const]),
    ...(before === undefined ? [] : [['at < ?', before] as const]),
  ];
  return {
    where: ['1', ...conditions.map(([text]) => text)].join(' AND '),
    values: conditions.map(([, value]) => value),
  };
}

/** A message from a row of the database. */
export function toStored(row: Record<string, unknown>): StoredMessage {
  const { seq, id, project, source, at, state, reason, content, meta } = row;
  return {
    seq: Number(seq),
    id: String(id),
    project: String(project),
    source: String(source),
    at: Number(at),
    state: state as MessageState,
    ...(reason !== null && { reason: String(reason) }),
    content: String(content),
    meta: JSON.parse(String(meta)) as PushedMessage['meta'],
  };
}
