import { expect, test } from 'vitest';
import type { Connection, ListKind } from '../../../../src/host/connect/connection.ts';
import { Signal } from '../../../../src/host/connect/signal.ts';
import { Feed } from '../../../../src/host/servers/features/feed.ts';

/** A feed over a connection of the older protocol that answers when the test says so. */
function fed() {
  const notices = new Signal<[method: string, params: Record<string, unknown>]>();
  const changed = new Signal<[kind: ListKind]>();
  const closed = new Signal();
  const asked: { what: string; answer: PromiseWithResolvers<unknown> }[] = [];
  const heard: string[] = [];
  const connection = {
    era: 'legacy',
    onNotice: notices.on,
    onListChanged: changed.on,
    onClose: closed.on,
    ask(method: string, { uri }: { uri: string }) {
      const answer = Promise.withResolvers<unknown>();
      asked.push({ what: `${method.slice('resources/'.length)} ${uri}`, answer });
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
