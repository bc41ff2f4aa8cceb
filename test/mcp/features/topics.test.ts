import { expect, onTestFinished, test, vi } from 'vitest';
import { Topics } from '../../../src/mcp/features/topics.ts';
import { Heard } from './heard.ts';

const tick = () => new Promise<void>(queueMicrotask);

test('what changes within one tick is heard of once, by each whom it concerns', async () => {
  const topics = new Topics();
  const [folder, file, other] = [new Heard(), new Heard(), new Heard()];
  topics.join('file:///a', folder.listener);
  topics.join('file:///a/1', file.listener);
  topics.join('file:///b', other.listener);
  for (let times = 0; times < 3; times++) {
    topics.changed('file:///a/1');
    topics.changed('file:///a/2');
  }
  await tick();
  expect([folder.count, file.count, other.count]).toEqual([1, 1, 0]);
  topics.changed('file:///a/2');
  await tick();
  expect([folder.count, file.count, other.count]).toEqual([2, 1, 0]);
});

test('who leaves before the tick is over hears of nothing; a listener that makes a change is told of it', async () => {
  const topics = new Topics();
  const [gone, heard] = [new Heard(), new Heard()];
  const seat = topics.join('a:1', gone.listener);
  topics.join('a:1', () => {
    heard.listener();
    if (heard.count === 1) topics.changed('a:1');
  });
  topics.changed('a:1');
  seat.leave();
  await tick();
  await tick();
  expect([gone.count, heard.count]).toEqual([0, 2]);
});

test('the last to leave is told so, and whoever works for them is to stop', () => {
  const topics = new Topics();
  const [a, b] = [topics.join('a:', () => {}), topics.join('a:', () => {})];
  expect(topics.uris()).toEqual(['a:']);
  expect(a.leave()).toBe(false);
  expect(a.signal.aborted).toBe(false);
  expect(b.leave()).toBe(true);
  expect(a.signal.aborted).toBe(true);
  expect(topics.uris()).toEqual([]);
  expect(topics.join('a:', () => {}).signal.aborted).toBe(false);
});

test('addresses are read once each, not once for each other', async () => {
  const topics = new Topics();
  const heard = new Heard();
  const read = vi.spyOn(URL, 'canParse');
  onTestFinished(() => read.mockRestore());
  for (let at = 0; at < 100; at++) topics.join(`file:///y/${at}`, heard.listener);
  for (let at = 0; at < 100; at++) topics.changed(`file:///y/${at * 2}`);
  await tick();
  expect(heard.count).toBe(50);
  expect(read.mock.calls.length).toBeLessThanOrEqual(200);
});
