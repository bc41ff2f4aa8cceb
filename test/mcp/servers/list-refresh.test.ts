import { describe, expect, test } from 'vitest';
import { ServerFault } from '../../../src/mcp/errors/host-error.ts';
import { ListRefresh, listsChangedBy, ServerLists } from '../../../src/mcp/servers/list-refresh.ts';
import { FakeClock } from './support/fake-clock.ts';
import { FakeConnection, Fleet } from './support/fleet.ts';

describe('lists', () => {
  const never = new AbortController().signal;
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

  function lists() {
    const fleet = new Fleet();
    const connection = new FakeConnection('a', fleet);
    return { connection, lists: new ServerLists(connection, fleet.clock) };
  }

  test.each([
    ['tools', ['tools']],
    ['prompts', ['prompts']],
    ['resources', []],
    ['all', ['tools', 'prompts']],
  ] as const)('a change of %s concerns %j', (kind, which) => {
    expect(listsChangedBy(kind)).toEqual(which);
  });

  test('a response to an earlier request never replaces a later one', async () => {
    const { connection, lists: it } = lists();
    const late = Promise.withResolvers<unknown>();
    connection.listTools = () => late.promise;
    const older = it.read(['tools'], never);
    connection.listTools = async () => ({ tools: [tool('new')] });
    await it.read(['tools'], never);
    late.resolve({ tools: [tool('old')] });
    expect((await older).tools.items).toEqual([tool('new')]);
  });

  test('an incomplete list does not replace a complete one', async () => {
    const { connection, lists: it } = lists();
    connection.tools = [tool('a'), tool('b')];
    await it.read(['tools'], never);
    connection.listTools = async (cursor) => {
      if (cursor !== undefined) throw new ServerFault('a', -32603, 'not now');
      return { tools: [tool('a')], nextCursor: '2' };
    };
    const { tools } = await it.read(['tools'], never);
    expect(tools.items).toEqual([tool('a'), tool('b')]);
    expect(tools).toMatchObject({ failure: { message: 'not now' }, diagnostics: [{ outcome: 'list' }] });
  });

  test('a failed prompt listing is a diagnostic, and the earlier prompts are kept', async () => {
    const fleet = new Fleet();
    fleet.capabilities = { tools: {}, prompts: {} };
    const connection = new FakeConnection('a', fleet);
    connection.prompts = [{ name: 'p' }];
    const it = new ServerLists(connection, fleet.clock);
    await it.read(['prompts'], never);
    connection.request = () => Promise.reject(new Error('gone'));
    for (let n = 0; n < 3; n++) {
      const { prompts } = await it.read(['prompts'], never);
      expect(prompts.items).toMatchObject([{ name: 'p' }]);
      expect(prompts.diagnostics.map(({ fault }) => fault)).toEqual([
        'its prompts could not be listed: gone',
      ]);
    }
  });
});

describe('relist', () => {
  /** A `ListRefresh` whose listings the test controls; `changed` simulates a notification about the tools. */
  function relisting(list: (times: number) => Promise<void> = async () => {}) {
    const clock = new FakeClock();
    const end = new AbortController();
    let times = 0;
    const relist = new ListRefresh(clock, () => list(++times), end.signal);
    const changed = () => relist.changed(['tools']);
    /** How many milliseconds a caller that starts to wait now has to wait. */
    const wait = async (stepMs = 10) => {
      let isOver = false;
      void relist.done().then(() => {
        isOver = true;
      });
      for (let ms = 0; ; ms += stepMs) {
        await clock.advance(ms === 0 ? 0 : stepMs);
        if (isOver) return ms;
        if (ms > 20_000) throw new Error('waits for ever');
      }
    };
    return { clock, end, relist, changed, wait, times: () => times };
  }

  test('done() resolves at once if nothing has changed', async () => {
    const { wait, times } = relisting();
    expect([await wait(), times()]).toEqual([0, 0]);
  });

  test('changed lists are read after the burst, due lists at once', async () => {
    const { relist, changed, wait, times } = relisting();
    changed();
    changed();
    expect([await wait(), times()]).toEqual([50, 1]);
    expect(await wait()).toBe(0);
    relist.changed(['prompts'], 'due');
    expect([await wait(), times()]).toEqual([0, 2]);
  });

  test('a change during a listing is awaited too', async () => {
    const it = relisting(async (times) => {
      if (times === 1) it.changed();
    });
    it.changed();
    expect([await it.wait(), it.times()]).toEqual([150, 2]);
  });

  test('a server that changes at every listing is awaited for two listings only', async () => {
    const it = relisting(async () => {
      it.changed();
      await new Promise<void>((resolve) => void it.clock.after(300, resolve));
    });
    it.changed();
    expect([await it.wait(), it.times()]).toEqual([750, 2]);
    for (let round = 0; round < 60; round++) {
      expect(await it.wait()).toBe(0);
      await it.clock.advance(170);
    }
    const before = it.times();
    await it.clock.advance(60_000);
    // The server is still listed, but at growing intervals.
    expect(it.times() - before).toBeGreaterThan(9);
    expect(it.times() - before).toBeLessThan(13);
  });

  test('a server that was too slow is not awaited until a listing was in time', async () => {
    let takesMs = 3_000;
    const it = relisting(() => new Promise<void>((resolve) => void it.clock.after(takesMs, resolve)));
    it.changed();
    expect(await it.wait()).toBe(2_000);
    expect(await it.wait()).toBe(0);
    await it.clock.advance(2_000);
    it.changed();
    expect(await it.wait()).toBe(0);
    await it.clock.advance(5_000);
    takesMs = 100;
    it.changed();
    expect(await it.wait()).toBe(0);
    await it.clock.advance(1_000);
    it.changed();
    expect([await it.wait(), it.times()]).toEqual([150, 4]);
  });

  test('a failed listing and a closed connection end the wait', async () => {
    const it = relisting(() => Promise.reject(new Error('not now')));
    it.changed();
    expect(await it.wait()).toBe(50);
    it.changed();
    const done = it.relist.done();
    it.end.abort();
    await done;
    expect([it.times(), it.clock.waiting]).toEqual([1, 0]);
  });
});
