import { expect, test } from 'vitest';
import type { Connection, ListKind } from '../../../src/mcp/connection/connection.ts';
import { HostError } from '../../../src/mcp/connection/host-error.ts';
import { Signal } from '../../../src/mcp/connection/signal.ts';
import { Feed } from '../../../src/mcp/features/feed.ts';
import { AbortError } from '../../../src/protocol/sdk-error.ts';

type Params = { uri?: string; notifications?: { resourceSubscriptions: string[] } };

/** A feed over a connection that answers when the test says so. */
function fed(era: Connection['era'] = 'legacy') {
  const notices = new Signal<[method: string, params: Record<string, unknown>]>();
  const changed = new Signal<[kind: ListKind]>();
  const closed = new Signal();
  const asked: { what: string; answer: PromiseWithResolvers<unknown> }[] = [];
  const heard: string[] = [];
  const connection = {
    name: 'a',
    era,
    onNotice: notices.on,
    onListChanged: changed.on,
    onClose: closed.on,
    ask(method: string, params: Params, { signal }: { signal?: AbortSignal }) {
      const answer = Promise.withResolvers<unknown>();
      const what = params.uri ?? params.notifications?.resourceSubscriptions.join('+');
      asked.push({ what: `${method.slice(method.indexOf('/') + 1)} ${what}`, answer });
      signal?.addEventListener('abort', () => answer.reject(new AbortError('given up')));
      return answer.promise;
    },
  } as unknown as Connection;
  const feed = new Feed(connection, {
    changed: (uri) => heard.push(uri),
    missed: () => heard.push('missed'),
  });
  const what = () => asked.map((it) => it.what);
  const answer = async (failure?: Error) => {
    await new Promise(setImmediate);
    const { answer: next } = asked.at(-1) ?? {};
    if (failure) next?.reject(failure);
    else next?.resolve({});
  };
  return { feed, notices, changed, closed, heard, what, answer };
}

test('one change after the other, and none that changes nothing', async () => {
  const { feed, what, answer } = fed();
  const done = [feed.add(['a:']), feed.add(['a:']), feed.remove('a:'), feed.remove('b:'), feed.add(['a:'])];
  await answer();
  expect(what()).toEqual(['subscribe a:']);
  await answer();
  expect(what()).toEqual(['subscribe a:', 'unsubscribe a:']);
  await answer();
  await answer();
  await Promise.all(done);
  expect(what()).toEqual(['subscribe a:', 'unsubscribe a:', 'subscribe a:']);
});

test('what is refused is not added; what cannot be ended is over all the same', async () => {
  const { feed, what, answer } = fed();
  const refused = expect(feed.add(['a:'])).rejects.toThrow('no');
  await answer(new Error('no'));
  await refused;
  const added = feed.add(['a:']);
  await answer();
  await added;
  const removed = feed.remove('a:');
  await answer(new Error('gone'));
  await removed;
  expect(what()).toEqual(['subscribe a:', 'subscribe a:', 'unsubscribe a:']);
});

test('one that hangs holds up no other', async () => {
  const { feed, what, answer } = fed();
  void feed.add(['bad:']);
  const added = feed.add(['good:']);
  await answer();
  await added;
  const removed = feed.remove('good:');
  await answer();
  await removed;
  expect(what()).toEqual(['subscribe bad:', 'subscribe good:', 'unsubscribe good:']);
});

test('one that is given up: the server is told, whether it has heard or not, before it is asked again', async () => {
  const { feed, what, answer } = fed();
  const over = new AbortController();
  const given = expect(feed.add(['bad:'], over.signal)).rejects.toThrow('given up');
  const behind = feed.add(['bad:']);
  await new Promise(setImmediate);
  over.abort();
  await answer();
  await given;
  await answer();
  await behind;
  expect(what()).toEqual(['subscribe bad:', 'unsubscribe bad:', 'subscribe bad:']);
});

test('one that was given up before its turn is never asked for', async () => {
  const { feed, what, answer } = fed();
  const over = new AbortController();
  const first = expect(feed.add(['a:'])).rejects.toThrow('no');
  const second = expect(feed.add(['a:'], over.signal)).rejects.toMatchObject({ name: 'AbortError' });
  over.abort();
  await answer(new Error('no'));
  await Promise.all([first, second]);
  expect(what()).toEqual(['subscribe a:']);
});

test('one that takes too long may have been heard: it is ended', async () => {
  const { feed, what, answer } = fed();
  const late = expect(feed.add(['a:'])).rejects.toThrow('late');
  await answer(new HostError('timeout', 'a', 'late'));
  await answer();
  await late;
  expect(what()).toEqual(['subscribe a:', 'unsubscribe a:']);
});

test('the newer protocol has one stream: what is given up is no part of the next', async () => {
  const { feed, notices, what } = fed('modern');
  const over = new AbortController();
  const given = expect(feed.add(['bad:'], over.signal)).rejects.toThrow('given up');
  const behind = feed.add(['good:']);
  await new Promise(setImmediate);
  expect(what()).toEqual(['listen bad:']);
  over.abort();
  await given;
  await new Promise(setImmediate);
  const notifications = { resourceSubscriptions: ['good:'] };
  notices.emit('notifications/subscriptions/acknowledged', { notifications });
  await behind;
  expect(what()).toEqual(['listen bad:', 'listen good:']);
  feed.close();
});

test('what is asked for together: all in the newer protocol, each alone in the older', () => {
  expect(fed('modern').feed.groups(['a:', 'b:'])).toEqual([['a:', 'b:']]);
  expect(fed('legacy').feed.groups(['a:', 'b:'])).toEqual([['a:'], ['b:']]);
});

test('hears of changes and of gaps, until the connection is closed', () => {
  const { notices, changed, closed, heard } = fed();
  const tell = () => {
    notices.emit('notifications/resources/updated', { uri: 'a:' });
    notices.emit('notifications/resources/updated', { uri: 7 });
    notices.emit('notifications/message', { uri: 'a:' });
    changed.emit('resources');
    changed.emit('all');
  };
  tell();
  expect(heard).toEqual(['a:', 'missed']);
  closed.emit();
  tell();
  expect(heard).toEqual(['a:', 'missed']);
});
