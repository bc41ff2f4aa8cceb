import { isRecord } from '../../base/json-value.ts';
import { checkMembers, type SettingDiagnostics } from './setting-keys.ts';

/** A server that may push messages into a conversation, and its limits. */
export type ChannelSetting = {
  /** The accepted values of `meta[senderKey]`; other messages are quarantined. Without a list, every sender is accepted. */
  readonly senders?: readonly string[];
  readonly senderKey: string;
  /** The maximum size of a message; larger ones are quarantined. */
  readonly maxBytes: number;
  /** The maximum number of messages per minute; further ones are refused. */
  readonly maxPerMinute: number;
  /** `next`: messages enter between the tool rounds of a running turn. `later`: after the turn. */
  readonly priority: 'next' | 'later';
  /** Whether permission requests are sent to the channel, if it supports them. */
  readonly permissions: boolean;
};

export const CHANNEL_DEFAULTS: ChannelSetting = {
  senderKey: 'sender',
  maxBytes: 64 * 1024,
  maxPerMinute: 60_000,
  priority: 'next',
  permissions: true,
};

/** `channels` of one file: `false` for a channel, or for all, disables what other files enable. */
export type ChannelSettings = Readonly<Record<string, ChannelSetting | false>> | false;

const RULE =
  'must be false, a list of server names, or an object that maps server names to true, false or an object';

export function readChannelSettings(raw: unknown, faults: SettingDiagnostics): ChannelSettings | undefined {
  if (raw === undefined) return undefined;
  if (raw === false) return false;
  if (Array.isArray(raw)) {
    const names = faults.texts(raw, ['channels']).map(({ text }) => text);
    return Object.fromEntries(names.map((name) => [name, CHANNEL_DEFAULTS]));
  }
  const given = faults.check(raw, ['channels'], isRecord, RULE) ?? {};
  const pairs = Object.entries(given).flatMap(([name, value]): [string, ChannelSetting | false][] => {
    if (value === false) return [[name, false]];
    if (value === true) return [[name, CHANNEL_DEFAULTS]];
    if (isRecord(value)) return [[name, readChannel(name, value, faults)]];
    faults.error(['channels', name], 'must be true, false or an object');
    return [];
  });
  return Object.fromEntries(pairs);
}

function readChannel(
  name: string,
  value: Readonly<Record<string, unknown>>,
  faults: SettingDiagnostics,
): ChannelSetting {
  const path = ['channels', name];
  checkMembers(value, ['senders', ...Object.keys(CHANNEL_DEFAULTS)], path, faults);
  const read = <T>(member: string, isValid: (it: unknown) => it is T, rule: string, otherwise: T): T =>
    faults.check(value[member], [...path, member], isValid, rule) ?? otherwise;
  // An invalid list accepts no sender.
  const senders = value.senders === undefined ? undefined : faults.texts(value.senders, [...path, 'senders']);
  const { senderKey, maxBytes, maxPerMinute, priority, permissions } = CHANNEL_DEFAULTS;
  return {
    ...(senders && { senders: senders.map(({ text }) => text) }),
    senderKey: read('senderKey', isName, 'must be a key of "meta"', senderKey),
    maxBytes: read('maxBytes', isCount, COUNT_RULE, maxBytes),
    maxPerMinute: read('maxPerMinute', isCount, COUNT_RULE, maxPerMinute),
    priority: read('priority', isPriority, 'must be "next" or "later"', priority),
    permissions: read('permissions', isFlag, 'must be true or false', permissions),
  };
}

const COUNT_RULE = 'must be a whole number above 0';

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isPriority(value: unknown): value is ChannelSetting['priority'] {
  return value === 'next' || value === 'later';
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

/** Merges files, lowest precedence first. Managed settings that are false disable all channels. */
export function mergeChannels(
  files: readonly { readonly channels: ChannelSettings | undefined; readonly isManaged: boolean }[],
): Readonly<Record<string, ChannelSetting>> | false {
  if (files.some(({ channels, isManaged }) => isManaged && channels === false)) return false;
  let merged: Record<string, ChannelSetting | false> = {};
  for (const { channels } of files) merged = channels === false ? {} : { ...merged, ...channels };
  const enabled = Object.entries(merged).flatMap(([name, it]) => (it === false ? [] : [[name, it] as const]));
  return Object.fromEntries(enabled);
}

/** Parses an item of `--channels`: `server:<name>`, or `local` for messages of `toolplane channels send` only. */
export function parseChannelFlag(
  item: string,
): { readonly server: string | undefined } | { readonly fault: string } {
  const [, tag, name = ''] = /^(?:([a-z]+):)?(.*)$/s.exec(item.trim()) ?? [];
  if (tag === undefined && name === 'local') return { server: undefined };
  if (tag !== undefined && tag !== 'server')
    return { fault: `${JSON.stringify(item)}: only servers can be channels; write server:<name>` };
  return name === ''
    ? { fault: `${JSON.stringify(item)}: the name of the server is missing` }
    : { server: name };
}
