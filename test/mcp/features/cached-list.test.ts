import { expect, test } from 'vitest';
import type { Connection, ListKind } from '../../../src/mcp/connection/connection.ts';
import { Listeners } from '../../../src/mcp/connection/notifications.ts';
import type { Discovered } from '../../../src/mcp/discovery/read-list.ts';
import { ServerFault } from '../../../src/mcp/errors/host-error.ts';
import { CachedList } from '../../../src/mcp/features/cached-list.ts';

type Answer = Partial<Discovered<string>> | Error;

/** A list of resources whose answers, time and changes the test controls; `items` count the requests. */
function listed(capabilities: object, answer: (times: number) => Answer = () => ({})) {
  const changed = new Listeners<[kind: ListKind]>();
  const connection = { name: 'a', capabilities, onListChanged: changed.on } as unknown as Connection;
  const state = { asked: 0, now: 0, faults: [] as string[] };
  const kept = new CachedList<string>({
    offer: 'resources',
    list: async () => {
      const times = ++state.asked;
      const given = answer(times);
      if (given instanceof Error) throw given;
      return { items: [`list ${times}`], diagnostics: [], ...given };
    },
    onWarning: (server, fault) => state.faults.push(`${server}: ${fault}`),
    now: () => state.now,
  });
  return {
    state,
    change: (kind: ListKind) => changed.emit(kind),
    get: () => kept.get(connection),
    kept,
    connection,
  };
}

test.each([
  ['promises to tell of changes', { resources: { listChanged: true } }, {}, 1e9, 1],
  ['does not', { resources: {} }, {}, 9_999, 1],
  ['does not, for long', { resources: {} }, {}, 10_000, 2],
  ['says how long it holds', { resources: { listChanged: true } }, { ttlMs: 500 }, 499, 1],
  ['says how long it holds, and that is over', { resources: { listChanged: true } }, { ttlMs: 500 }, 500, 2],
  ['says that it holds no time', { resources: {} }, { ttlMs: 0 }, 0, 2],
  ['could not list it all', { resources: { listChanged: true } }, { failure: new Error() }, 0, 2],
])('a list of one that %s', async (_, capabilities, answer, afterMs, asked) => {
  const { state, get } = listed(capabilities, () => answer);
  await get();
  state.now = afterMs;
  await get();
  expect(state.asked).toBe(asked);
});

test('concurrent callers share one request; after a change the list is requested again', async () => {
  const { get, change, kept, connection } = listed({ resources: { listChanged: true } });
  expect(kept.last(connection)).toBeUndefined();
  const [a, b] = [get(), get()];
  change('tools');
  const c = get();
  change('resources');
  const d = get();
  expect(await Promise.all([a, b, c, d])).toEqual([['list 1'], ['list 1'], ['list 1'], ['list 2']]);
  change('prompts');
  expect(await get()).toEqual(['list 2']);
  change('all');
  expect(kept.last(connection)).toEqual(['list 2']);
  expect(await get()).toEqual(['list 3']);
});

test('a failure rejects and is not cached', async () => {
  const { get, kept, connection } = listed({ resources: { listChanged: true } }, (times) =>
    times === 2 ? new Error('busy') : {},
  );
  expect(await get()).toEqual(['list 1']);
  const other = { ...connection, capabilities: { resources: {} } } as Connection;
  await expect(kept.get(other)).rejects.toThrow('busy');
  expect(await kept.get(other)).toEqual(['list 3']);
});

test('a late failure does not affect later requests', async () => {
  const { get, change, state } = listed({ resources: { listChanged: true } }, (times) =>
    times === 1 ? new Error('busy') : {},
  );
  const late = get();
  change('resources');
  const since = get();
  await expect(late).rejects.toThrow('busy');
  expect(await since).toEqual(['list 2']);
  expect(await get()).toEqual(['list 2']);
  expect(state.asked).toBe(2);
});

test('a server without the capability is not asked, and one without the method has an empty list', async () => {
  const without = listed({ prompts: {} });
  expect(await without.get()).toEqual([]);
  expect(without.state.asked).toBe(0);
  const ignorant = listed({ resources: {} }, () => new ServerFault('a', -32601, 'Method not found'));
  expect(await ignorant.get()).toEqual([]);
});

test('diagnostics of entries are reported', async () => {
  const diagnostic = { server: 'a', list: 'resources', entry: 'x:', outcome: 'set-aside' } as const;
  const { get, state } = listed({ resources: {} }, () => ({
    diagnostics: [{ ...diagnostic, fault: 'it is odd' }],
  }));
  await get();
  expect(state.faults).toEqual(['a: resource "x:": it is odd; not offered']);
});
