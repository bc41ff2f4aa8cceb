import { describe, expect, test } from 'vitest';
import type { Connection, ListKind } from '../../../src/mcp/connection/connection.ts';
import { Listeners } from '../../../src/mcp/connection/notifications.ts';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import { ResourceFeed, statelessSubscriber } from '../../../src/mcp/features/resource-feed.ts';
import { AbortError } from '../../../src/protocol/sdk-error.ts';

describe('feed', () => {
  type Params = { uri?: string; notifications?: { resourceSubscriptions: string[] } };

  /** A feed over a connection whose answers the test controls. */
  function fed(era: Connection['era'] = 'legacy') {
    const notices = new Listeners<[method: string, params: Record<string, unknown>]>();
    const changed = new Listeners<[kind: ListKind]>();
    const closed = new Listeners();
    const asked: { what: string; answer: PromiseWithResolvers<unknown> }[] = [];
    const heard: string[] = [];
    const connection = {
      name: 'a',
      era,
      onNotification: notices.on,
      onListChanged: changed.on,
      onClose: closed.on,
      request(method: string, params: Params, { signal }: { signal?: AbortSignal }) {
        const answer = Promise.withResolvers<unknown>();
        const what = params.uri ?? params.notifications?.resourceSubscriptions.join('+');
        asked.push({ what: `${method.slice(method.indexOf('/') + 1)} ${what}`, answer });
        signal?.addEventListener('abort', () => answer.reject(new AbortError('given up')));
        return answer.promise;
      },
    } as unknown as Connection;
    const feed = new ResourceFeed(connection, {
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

  test('changes run one after the other, and no-ops are skipped', async () => {
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

  test('a refused subscription is not added; one that cannot be ended counts as ended', async () => {
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

  test('one that hangs does not delay the others', async () => {
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

  test('an aborted subscription is ended on the server before it is requested again', async () => {
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

  test('one that was aborted while queued is never requested', async () => {
    const { feed, what, answer } = fed();
    const over = new AbortController();
    const first = expect(feed.add(['a:'])).rejects.toThrow('no');
    const second = expect(feed.add(['a:'], over.signal)).rejects.toMatchObject({ name: 'AbortError' });
    over.abort();
    await answer(new Error('no'));
    await Promise.all([first, second]);
    expect(what()).toEqual(['subscribe a:']);
  });

  test('a subscription that timed out is ended, since the server may have made it', async () => {
    const { feed, what, answer } = fed();
    const late = expect(feed.add(['a:'])).rejects.toThrow('late');
    await answer(new HostError('timeout', 'a', 'late'));
    await answer();
    await late;
    expect(what()).toEqual(['subscribe a:', 'unsubscribe a:']);
  });

  test('in the stateless protocol an aborted subscription is not part of the next stream', async () => {
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

  test('subscriptions are grouped in the stateless protocol, and separate in the legacy protocol', () => {
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
});

describe('modern watch', () => {
  type Stream = { uris: string[]; end(failure?: Error): void; signal: AbortSignal };

  /** A connection whose answers to `subscriptions/listen` the test controls. */
  function connected(
    onListen: (stream: Stream, acknowledge: (uris?: string[], id?: unknown) => void) => void,
  ) {
    const notices = new Listeners<[method: string, params: Record<string, unknown>]>();
    const streams: Stream[] = [];
    const connection = {
      name: 'a',
      onNotification: notices.on,
      request: (
        _: string,
        params: { notifications: { resourceSubscriptions: string[] } },
        { signal }: { signal: AbortSignal },
      ) =>
        new Promise((resolve, reject) => {
          const uris = params.notifications.resourceSubscriptions;
          const end = (failure?: Error) => {
            streams.splice(streams.indexOf(stream), 1);
            return failure ? reject(failure) : resolve({});
          };
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          const stream = { uris, end, signal };
          streams.push(stream);
          onListen(stream, (honored = uris, id = streams.length) => {
            const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
            const notifications = { resourceSubscriptions: honored };
            notices.emit('notifications/subscriptions/acknowledged', { _meta, notifications });
          });
        }),
    } as unknown as Connection;
    const open = () => streams.filter(({ signal }) => !signal.aborted).map(({ uris }) => uris);
    return { connection, streams, open };
  }

  test('another set is another stream, opened before the old one is closed', async () => {
    const { connection, open, streams } = connected((_, acknowledge) => acknowledge());
    const watch = statelessSubscriber(connection, () => {});
    await watch.begin(['x:'], ['x:']);
    await watch.begin(['y:'], ['x:', 'y:']);
    expect(open()).toEqual([['x:', 'y:']]);
    await watch.end('x:', ['y:']);
    expect(open()).toEqual([['y:']]);
    await watch.end('y:', []);
    expect(open()).toEqual([]);
    expect(streams).toHaveLength(3);
  });

  test('a refused subscription rejects, and earlier ones stay', async () => {
    const { connection, open } = connected((stream, acknowledge) => {
      if (stream.uris.includes('secret:')) acknowledge(['x:']);
      else if (stream.uris.includes('short:')) stream.end();
      else if (stream.uris.includes('bad:')) stream.end(new HostError('unreachable', 'a', 'no such thing'));
      else acknowledge();
    });
    const watch = statelessSubscriber(connection, () => {});
    await watch.begin(['x:'], ['x:']);
    const refusals = [
      ['secret:', 'the server does not send updates for secret:'],
      ['short:', 'the server ended the subscription before confirming it'],
      ['bad:', 'no such thing'],
    ] as const;
    for (const [uri, fault] of refusals)
      await expect(watch.begin([uri], ['x:', uri])).rejects.toThrow(`MCP server "a": ${fault}`);
    expect(open()).toEqual([['x:']]);
    watch.close();
    expect(open()).toEqual([]);
  });

  test('aborting ends the wait, but not an open stream', async () => {
    const { connection, open } = connected((stream, acknowledge) => {
      if (!stream.uris.includes('hangs:')) acknowledge();
    });
    const watch = statelessSubscriber(connection, () => {});
    const [early, late] = [new AbortController(), new AbortController()];
    const waiting = expect(watch.begin(['hangs:'], ['hangs:'], early.signal)).rejects.toThrow('aborted');
    const never = expect(watch.begin(['y:'], ['y:'], early.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
    const begun = watch.begin(['x:'], ['x:'], late.signal);
    await new Promise(setImmediate);
    early.abort();
    await Promise.all([waiting, never, begun]);
    late.abort();
    expect(open()).toEqual([['x:']]);
    watch.close();
  });

  test('an acknowledgement for the stream of list changes is not taken for ours', async () => {
    const { connection } = connected((_, acknowledge) => {
      acknowledge([], 'listen:0');
      acknowledge();
    });
    const watch = statelessSubscriber(connection, () => {});
    await watch.begin(['x:'], ['x:']);
    watch.close();
  });

  test('a stream that ends is opened again, until it is closed', async () => {
    const { connection, streams, open } = connected((_, acknowledge) => acknowledge());
    const missed = Promise.withResolvers<void>();
    const watch = statelessSubscriber(connection, () => missed.resolve());
    await watch.begin(['x:'], ['x:']);
    streams[0]?.end(new Error('cut'));
    expect(open()).toEqual([]);
    await missed.promise;
    expect(open()).toEqual([['x:']]);
    watch.close();
    await watch.begin(['y:'], ['y:']);
    expect(open()).toEqual([]);
  });

  test('a stream that is being reopened does not replace a newer one', async () => {
    const asked: (() => void)[] = [];
    let onAsked = Promise.withResolvers<void>();
    const { connection, streams, open } = connected((_, acknowledge) => {
      asked.push(acknowledge);
      onAsked.resolve();
      onAsked = Promise.withResolvers();
    });
    const answerNext = async () => {
      if (asked.length === 0) await onAsked.promise;
      asked.shift()?.();
    };
    const missed = Promise.withResolvers<void>();
    const watch = statelessSubscriber(connection, () => missed.resolve());
    await Promise.all([watch.begin(['x:'], ['x:']), answerNext()]);
    streams[0]?.end(new Error('cut'));
    if (asked.length === 0) await onAsked.promise;
    const added = watch.begin(['y:'], ['x:', 'y:']);
    await answerNext();
    await Promise.all([missed.promise, added, answerNext()]);
    expect(open()).toEqual([['x:', 'y:']]);
    watch.close();
  });
});
