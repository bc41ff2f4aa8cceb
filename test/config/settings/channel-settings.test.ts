import { describe, expect, test } from 'vitest';
import {
  CHANNEL_DEFAULTS,
  mergeChannels,
  parseChannelFlag,
  readChannelSettings,
} from '../../../src/config/settings/channel-settings.ts';
import { SettingDiagnostics } from '../../../src/config/settings/setting-keys.ts';

function read(raw: unknown) {
  const faults = new SettingDiagnostics();
  const channels = readChannelSettings(raw, faults);
  return {
    channels,
    faults: faults.all.map(({ level, path, message }) => `${level} ${path.join('.')} ${message}`),
  };
}

describe('"channels" of settings', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, undefined],
    ['a list of names', ['a', 'b'], { a: CHANNEL_DEFAULTS, b: CHANNEL_DEFAULTS }],
    ['true and false', { a: true, b: false }, { a: CHANNEL_DEFAULTS, b: false }],
    ['false for all', false, false],
    [
      'an object',
      {
        a: {
          senders: ['ann'],
          senderKey: 'user',
          maxBytes: 10,
          maxPerMinute: 5,
          priority: 'later',
          permissions: false,
        },
      },
      {
        a: {
          senders: ['ann'],
          senderKey: 'user',
          maxBytes: 10,
          maxPerMinute: 5,
          priority: 'later',
          permissions: false,
        },
      },
    ],
  ])('%s', (_, raw, channels) => {
    expect(read(raw)).toEqual({ channels, faults: [] });
  });

  test.each<[string, unknown, unknown, string]>([
    [
      'a string',
      'a',
      {},
      'error channels must be false, a list of server names, or an object that maps server names to true, false or an object',
    ],
    ['a number for a channel', { a: 1 }, {}, 'error channels.a must be true, false or an object'],
    [
      'a list that cannot be read accepts no sender',
      { a: { senders: 'ann' } },
      { a: { ...CHANNEL_DEFAULTS, senders: [] } },
      'error channels.a.senders must be a list of strings',
    ],
    [
      'an invalid limit',
      { a: { maxBytes: 0 } },
      { a: CHANNEL_DEFAULTS },
      'error channels.a.maxBytes must be a whole number above 0',
    ],
    [
      'an unknown member',
      { a: { sender: ['x'] } },
      { a: CHANNEL_DEFAULTS },
      'warning channels.a.sender is not a known key; did you mean "channels.a.senders"?',
    ],
  ])('%s', (_, raw, channels, fault) => {
    expect(read(raw)).toEqual({ channels, faults: [fault] });
  });
});

describe('channels of several files', () => {
  const file = (channels: unknown, isManaged = false) => ({ channels: read(channels).channels, isManaged });
  test.each([
    ['a later file adds', [file(['a']), file(['b'])], ['a', 'b']],
    ['a later file disables one', [file(['a', 'b']), file({ a: false })], ['b']],
    ['a later file disables all before it', [file(['a']), file(false), file(['b'])], ['b']],
  ])('%s', (_, files, names) => {
    expect(Object.keys(mergeChannels(files))).toEqual(names);
  });

  test('managed settings that are false disable all', () => {
    expect(mergeChannels([file(false, true), file(['a'])])).toBe(false);
  });
});

test.each([
  ['server:docs', { server: 'docs' }],
  [' server:a:b ', { server: 'a:b' }],
  ['docs', { server: 'docs' }],
  ['local', { server: undefined }],
  ['server:', { fault: '"server:": the name of the server is missing' }],
  ['plugin:x@y', { fault: '"plugin:x@y": only servers can be channels; write server:<name>' }],
])('--channels %s', (item, parsed) => {
  expect(parseChannelFlag(item)).toEqual(parsed);
});
