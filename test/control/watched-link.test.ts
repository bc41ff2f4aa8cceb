import { expect, test } from 'vitest';
import { watchLink } from '../../src/control/watched-link.ts';
import { collect } from '../world/collect.ts';
import { FakeLink } from '../world/fake-link.ts';

test('every frame is printed with its direction, secrets masked, and passes unchanged', async () => {
  const link = new FakeLink();
  const printed: string[] = [];
  const watched = watchLink(link, (line) => printed.push(line));
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

test('a death is printed and passed on; what cannot be sent is refused as before', async () => {
  const link = new FakeLink();
  const printed: string[] = [];
  const watched = watchLink(link, (line) => printed.push(line));
  expect(() => watched.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
  link.frames.fail(new Error('died'));
  await expect(collect(watched.frames)).rejects.toThrow('died');
  await watched.close();
  expect(printed).toEqual(['< Error: died']);
});
