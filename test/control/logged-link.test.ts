import { expect, test } from 'vitest';
import { logFrames } from '../../src/control/logged-link.ts';
import { collect } from '../support/collect.ts';
import { FakeLink } from './fake-link.ts';

test('every frame is printed with its direction, secrets masked, and passes unchanged', async () => {
  const link = new FakeLink();
  const printed: string[] = [];
  const watched = logFrames(link, (line) => printed.push(line));
  const secret = { type: 'x', env: { KEY: 'hunter2' } };
  await watched.send(secret);
  link.say({ type: 'y', token: 'hunter2' });
  watched.end();
  link.frames.end();
  expect(await collect(watched.frames)).toEqual([{ type: 'y', token: 'hunter2' }]);
  expect(link.sent).toEqual([secret]);
  expect(printed).toEqual([
    '> {"type":"x","env":{"KEY":"[redacted]"}}',
    '> end',
    '< {"type":"y","token":"[redacted]"}',
    '< end',
  ]);
});

test('a link failure is printed and passed on; unserializable frames are rejected', async () => {
  const link = new FakeLink();
  const printed: string[] = [];
  const watched = logFrames(link, (line) => printed.push(line));
  expect(() => watched.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
  link.frames.fail(new Error('died'));
  await expect(collect(watched.frames)).rejects.toThrow('died');
  await watched.close();
  expect(printed).toEqual(['< Error: died']);
});

test('control characters in frames and errors are escaped', async () => {
  const link = new FakeLink();
  const printed: string[] = [];
  const watched = logFrames(link, (line) => printed.push(line));
  const text = 'a\u009b2J\u001b[2J\u202eb\u2066\u200f\u061c\u200b\u200d\u2028\u0085\ufeff\u{e0041}';
  await watched.send({ type: text });
  link.say({ [text]: 1 });
  link.frames.fail(new Error(text));
  await expect(collect(watched.frames)).rejects.toThrow();
  expect(printed).toHaveLength(3);
  for (const line of printed)
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
  expect(JSON.parse(printed[0]?.slice(2) ?? '')).toEqual({ type: text });
  expect(JSON.parse(printed[1]?.slice(2) ?? '')).toEqual({ [text]: 1 });
});
