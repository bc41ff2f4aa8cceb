import { describe, expect, test } from 'vitest';
import { judgeMessage, RateLimit } from '../../src/channels/admission.ts';
import { CHANNEL_DEFAULTS } from '../../src/config/settings/channel-settings.ts';

describe('a message of a channel', () => {
  const setting = { ...CHANNEL_DEFAULTS, maxBytes: 100, senders: ['ann'] };

  test.each<[string, string, Record<string, string>, RegExp | undefined]>([
    ['of an accepted sender', 'x', { sender: 'ann' }, undefined],
    ['of an unknown sender', 'x', { sender: 'eve' }, /^unknown sender: "eve" is not in "senders"$/],
    ['of no sender', 'x', {}, /^unknown sender: the message has no "meta.sender"$/],
    [
      'of a sender by another key',
      'x',
      { from: 'ann' },
      /^unknown sender: the message has no "meta.sender"$/,
    ],
    [
      'that is too large',
      'x'.repeat(200),
      { sender: 'ann' },
      /^the message has 216 bytes, more than the limit of 100/,
    ],
    [
      'that is too large and of an unknown sender',
      'x'.repeat(200),
      { sender: 'eve' },
      /^unknown sender: "eve".*; the message has 216 bytes/,
    ],
    ['whose attributes are too large', 'x', { sender: 'ann', more: 'm'.repeat(90) }, /more than the limit/],
  ])('%s', (_, content, meta, reason) => {
    const judged = judgeMessage('s', { content, meta }, setting);
    expect(judged).toMatchObject({ source: 's', state: reason ? 'quarantined' : 'pending' });
    if (reason) expect(judged.reason).toMatch(reason);
    expect(judged.content.length).toBeLessThanOrEqual(101);
  });
});

test('the rate limit counts the messages of a minute, also if the clock jumps', () => {
  const rate = new RateLimit();
  const admits = (...times: number[]) => times.map((now) => rate.admits(now, 2));
  expect(admits(100_000, 100_001, 100_002, 159_999)).toEqual([true, true, false, false]);
  expect(admits(160_000, 160_000, 160_000)).toEqual([true, true, false]);
  expect(admits(5_000, 5_000, 5_000)).toEqual([true, true, false]);
  expect(admits(9_000_000)).toEqual([true]);
});
