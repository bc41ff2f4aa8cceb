import { describe, expect, test } from 'vitest';
import { callTool } from '../../../src/mcp/calls/call-tool.ts';
import { memoryJournal } from '../../../src/mcp/calls/journal.ts';
import type { ServerEntry, ToolCache } from '../../../src/mcp/connection/connect-context.ts';
import { ServerFault } from '../../../src/mcp/errors/host-error.ts';
import type { ServersOptions } from '../../../src/mcp/servers/servers-options.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { come, Fleet, hang, http, refuse, stdio } from './support/fleet.ts';

const tool = (name: string, more: object = {}): ListedTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const all = { tools: {}, prompts: {} };
const ide = (authToken: string): ServerEntry => ({ type: 'ws-ide', url: 'ws://127.0.0.1:1', authToken });

/** A fleet with one connected server, and the reported changes and warnings about its offer. */
async function one(setUp: (fleet: Fleet) => void = () => {}, options: ServersOptions = {}) {
  const changes: string[] = [];
  const warnings: string[] = [];
  const fleet = new Fleet({
    onTools: (key) => void changes.push(key),
    onWarning: (_, message) => void warnings.push(message),
    ...options,
  });
  setUp(fleet);
  fleet.servers.add({ a: http }, 'dynamic');
  await fleet.servers.settled();
  return { fleet, changes, warnings, it: fleet.now('a'), offer: () => fleet.servers.tools.get('a') };
}

describe('only changed lists are read again', () => {
  test.each([
    ['tools', 2, 1],
    ['prompts', 1, 2],
    ['resources', 1, 1],
    ['all', 2, 2],
  ] as const)('%s', async (kind, tools, prompts) => {
    const { fleet, it } = await one((fleet) => {
      fleet.capabilities = all;
    });
    expect([it.lists, it.promptLists]).toEqual([1, 1]);
    it.changed.emit(kind);
    await fleet.clock.advance(1_000);
    expect([it.lists, it.promptLists]).toEqual([tools, prompts]);
  });

  test('several changes in one burst, each list once', async () => {
    const { fleet, it } = await one((fleet) => {
      fleet.capabilities = all;
    });
    it.prompts = [{ name: 'p' }];
    it.changed.emit('tools');
    it.changed.emit('prompts');
    it.changed.emit('tools');
    await fleet.clock.advance(1_000);
    expect([it.lists, it.promptLists]).toEqual([2, 2]);
    expect(fleet.servers.all.get('a')?.state).toMatchObject({ prompts: [{ name: 'p' }] });
  });
});

test('a server whose list changes with every listing does not delay later rounds', async () => {
  const { fleet, it } = await one();
  const { clock, servers } = fleet;
  const list = it.listTools.bind(it);
  it.listTools = async (cursor, signal) => {
    it.changed.emit('tools');
    return list(cursor, signal);
  };
  it.changed.emit('tools');
  const first = servers.listed();
  await clock.advance(150);
  await first;
  const lists = it.lists;
  // The clock does not advance, so any wait would never end.
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now();
    await servers.listed();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  }
  expect(it.lists).toBe(lists);
  await clock.advance(1_000);
  expect(it.lists).toBeGreaterThan(lists);
});

describe('unchanged objects are reused', () => {
  test('an unchanged offer, without a notification', async () => {
    const { fleet, it, changes, offer } = await one();
    const [before, version] = [offer(), fleet.servers.version];
    it.tools = [tool('echo')];
    it.changed.emit('tools');
    await fleet.clock.advance(1_000);
    expect(it.lists).toBe(2);
    expect(offer()).toBe(before);
    expect([changes, fleet.servers.version]).toEqual([['a'], version]);
  });

  test('every tool that did not change', async () => {
    const { fleet, it, changes, offer } = await one((fleet) => {
      fleet.tools = [tool('a'), tool('b')];
    });
    const before = offer();
    it.tools = [tool('b', { description: 'new' }), tool('a')];
    it.changed.emit('tools');
    await fleet.clock.advance(1_000);
    expect(offer()?.map(({ name }) => name)).toEqual(['b', 'a']);
    expect(offer()?.[1]).toBe(before?.[0]);
    expect(offer()?.[0]).not.toBe(before?.[1]);
    expect(changes).toEqual(['a', 'a']);
  });

  test('also after a new connection', async () => {
    const { fleet, changes, offer } = await one();
    const before = offer();
    await fleet.servers.reconnect('a');
    expect(fleet.connections).toHaveLength(2);
    expect(offer()).toBe(before);
    expect(changes).toEqual(['a']);
  });
});

describe('a list with a TTL', () => {
  const holding =
    (ttlMs: number, capabilities: object = { tools: {} }) =>
    (fleet: Fleet): void => {
      fleet.capabilities = capabilities;
      fleet.lists = async () => {
        fleet.now('a').extra = { ttlMs };
      };
    };

  test.each([
    ['as long as it says', 60_000, {}, 60_000],
    ['a second at least', 0, {}, 1_000],
    ['five minutes at least, if its changes are told', 0, { listChanged: true }, 300_000],
  ])('is read again at the next use after %s', async (_, ttlMs, tools, holdsMs) => {
    const { fleet, it } = await one(holding(ttlMs, { tools }));
    await fleet.clock.advance(holdsMs - 1);
    await fleet.servers.listed();
    expect(it.lists).toBe(1);
    // Without a caller that waits, the lists are not read again.
    await fleet.clock.advance(10);
    expect(it.lists).toBe(1);
    it.tools = [tool('other')];
    await fleet.servers.listed();
    expect(it.lists).toBe(2);
    expect(fleet.servers.tools.get('a')).toEqual([tool('other')]);
    await fleet.servers.listed();
    expect(it.lists).toBe(2);
  });

  test('without a TTL the list does not expire', async () => {
    const { fleet, it } = await one();
    await fleet.clock.advance(10_000_000);
    await fleet.servers.listed();
    expect(it.lists).toBe(1);
  });

  test('a failed listing is not repeated at every use, and the earlier list is kept', async () => {
    const { fleet, it, offer } = await one(holding(1_000));
    const before = offer();
    await fleet.clock.advance(1_000);
    let asked = 0;
    it.listTools = async () => {
      asked++;
      throw new Error('not now');
    };
    for (let use = 0; use < 5; use++) await fleet.servers.listed();
    expect(asked).toBe(1);
    expect(offer()).toBe(before);
  });
});

test('a server that cannot list its prompts is connected, with a warning', async () => {
  const { fleet, warnings, offer } = await one((fleet) => {
    fleet.capabilities = all;
    fleet.lists = async () => {
      fleet.now('a').prompts = 7 as never;
    };
  });
  expect(fleet.state('a')).toMatchObject({ state: 'connected', tools: 1 });
  expect(offer()).toHaveLength(1);
  expect(warnings).toEqual(['page 1 of its list of prompts has no "prompts"']);
});

test('the number of warnings about a server is limited', async () => {
  const { warnings } = await one((fleet) => {
    fleet.tools = Array.from({ length: 5_000 }, (_, at) => ({ name: `t${at}`, inputSchema: at }));
  });
  expect(warnings).toHaveLength(201);
  expect(warnings.at(-1)).toBe('its lists have more than 200 problems; further ones are not reported');
});

/** A tool cache that returns the same earlier tools for every key. */
class Memory implements ToolCache {
  recalled: string[] = [];
  readonly remembered: (readonly ListedTool[])[] = [];
  flushes = 0;
  readonly #tools: readonly ListedTool[] | undefined;
  readonly #until: Promise<void>;

  constructor(tools: readonly ListedTool[] | undefined, until = Promise.resolve()) {
    this.#tools = tools;
    this.#until = until;
  }

  async recall(key: string) {
    this.recalled.push(key);
    await this.#until;
    return this.#tools;
  }

  remember(_key: string, tools: readonly ListedTool[]) {
    this.remembered.push(tools);
  }

  async flush() {
    this.flushes++;
  }
}

describe('cached tools', () => {
  const past = [tool('echo'), tool('old')];
  const start = (memory: Memory, entry: ServerEntry = stdio, reply = hang, options: ServersOptions = {}) => {
    const fleet = new Fleet(options, { toolCache: memory });
    fleet.set('a', reply);
    fleet.servers.add({ a: entry }, 'dynamic');
    return { fleet, offer: () => fleet.servers.tools.get('a') };
  };

  test('are offered while the server is connecting, unverified', async () => {
    const { fleet, offer } = start(new Memory(past));
    await fleet.servers.listed();
    expect(offer()).toEqual(past);
    expect(fleet.servers.isVerified('a')).toBe(false);
    expect(fleet.servers.all.get('a')).toMatchObject({ isVerified: false, state: { kind: 'pending' } });
    await fleet.clock.advance(25_000);
    expect(offer()).toEqual(past);
  });

  test('let offered() resolve before the server is connected', async () => {
    const { fleet } = start(new Memory(past));
    await fleet.servers.offered();
    expect(fleet.servers.tools.get('a')).toEqual(past);
    const door = Promise.withResolvers<void>();
    const unknown = start(new Memory(undefined), stdio, () => door.promise);
    let isOver = false;
    const offered = unknown.fleet.servers.offered().then(() => {
      isOver = true;
    });
    await unknown.fleet.clock.advance(1_000);
    expect(isOver).toBe(false);
    door.resolve();
    await offered;
    expect(unknown.offer()).toEqual([tool('echo')]);
  });

  test('are replaced by the listed ones; equal objects are reused', async () => {
    const door = Promise.withResolvers<void>();
    const memory = new Memory(past);
    const { fleet, offer } = start(memory, stdio, () => door.promise);
    fleet.tools = [tool('echo'), tool('new', { annotations: { readOnlyHint: true } })];
    await fleet.servers.listed();
    const before = offer();
    door.resolve();
    await fleet.servers.settled();
    expect(offer()).toEqual(fleet.tools);
    expect(offer()?.[0]).toBe(before?.[0]);
    expect(fleet.servers.isVerified('a')).toBe(true);
    expect(memory.remembered).toEqual([fleet.tools]);
    await fleet[Symbol.asyncDispose]();
    expect(memory.flushes).toBe(1);
  });

  test('wait for the connection when called', async () => {
    const door = Promise.withResolvers<void>();
    const { fleet } = start(new Memory(past), stdio, () => door.promise);
    await fleet.servers.listed();
    const target = fleet.servers.target('a');
    expect(target?.tool('old')).toEqual(tool('old'));
    const connected = target?.connect();
    expect(target?.live()).toBeUndefined();
    door.resolve();
    expect(await connected).toBe(fleet.now('a'));
  });

  test.each([
    ['fails for good', refuse('bad-config')],
    ['requires authorization', refuse('unauthorized')],
  ])('are dropped if the server %s', async (_, reply) => {
    const door = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past), stdio, (name) => door.promise.then(() => reply(name)));
    await fleet.servers.listed();
    expect(offer()).toEqual(past);
    door.resolve();
    await fleet.servers.settled();
    expect(offer()).toBeUndefined();
  });

  test('are dropped some time after a failed attempt', async () => {
    const door = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past), http, async (name) => {
      await door.promise;
      return refuse('unreachable')(name);
    });
    await fleet.servers.listed();
    door.resolve();
    await fleet.clock.advance(4_000);
    expect(offer()).toEqual(past);
    await fleet.clock.advance(2_000);
    expect(offer()).toBeUndefined();
  });

  test('are ignored if the server has listed its tools before', async () => {
    const slow = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past, slow.promise), stdio, come);
    await fleet.servers.settled();
    slow.resolve();
    await fleet.servers.listed();
    expect(offer()).toEqual([tool('echo')]);
    expect(fleet.servers.isVerified('a')).toBe(true);
  });

  test('never replace listed tools, however late they are read', async () => {
    const slow = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past, slow.promise), stdio, come);
    await fleet.servers.settled();
    fleet.set('a', hang);
    void fleet.servers.reconnect('a');
    slow.resolve();
    await fleet.servers.listed();
    expect(offer()).toEqual([tool('echo')]);
  });

  test('are stored only if the list is complete', async () => {
    const memory = new Memory(undefined);
    const { fleet } = start(memory, stdio, come);
    fleet.lists = async () => {
      if (fleet.now('a').lists > 1) throw new ServerFault('a', -32603, 'not now');
      fleet.now('a').extra = { nextCursor: '2' };
    };
    await fleet.servers.settled();
    expect(fleet.state('a')).toMatchObject({ state: 'connected', tools: 1 });
    expect(memory.remembered).toEqual([]);
  });

  test('are read once, by a hashed key', async () => {
    const memory = new Memory(past);
    const secret: ServerEntry = { command: 'x', env: { TOKEN: 'hunter2' } };
    const { fleet } = start(memory, secret, come);
    await fleet.servers.settled();
    await fleet.servers.reconnect('a');
    expect(memory.recalled).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
  });

  const remote = (more: object) => ({ ...http, ...more }) as ServerEntry;
  test.each<[string, ServerEntry, ServerEntry]>([
    [
      'headers',
      remote({ headers: { authorization: 'alice' } }),
      remote({ headers: { authorization: 'bob' } }),
    ],
    ['no headers', remote({ headers: { authorization: 'alice' } }), http],
    ['a command for headers', remote({ headersHelper: 'a' }), remote({ headersHelper: 'b' })],
    ['a certificate', remote({ tls: { cert: 'a' } }), remote({ tls: { cert: 'b' } })],
    ['a token', ide('alice'), ide('bob')],
    ['an environment', { command: 'x', env: { TOKEN: 'alice' } }, { command: 'x', env: { TOKEN: 'bob' } }],
  ])('are not used with other credentials: %s', (_, alice, bob) => {
    const keyOf = (entry: ServerEntry) => {
      const memory = new Memory(past);
      start(memory, entry);
      return memory.recalled[0];
    };
    expect(keyOf(alice)).toBeDefined();
    expect(keyOf(bob)).not.toBe(keyOf(alice));
    const reversed = Object.fromEntries(Object.entries(alice).toReversed()) as ServerEntry;
    expect(keyOf({ ...reversed, timeout: 5_000 })).toBe(keyOf(alice));
  });

  test('do not depend on the order of environment variables', () => {
    const keys = [
      { A: '1', B: '2' },
      { B: '2', A: '1' },
    ].map((env) => {
      const memory = new Memory(past);
      start(memory, { command: 'x', env });
      return memory.recalled[0];
    });
    expect(keys[0]).toBe(keys[1]);
  });

  test('are not offered for an idle server, nor stored for an in-process one', async () => {
    const memory = new Memory(past);
    const { fleet, offer } = start(memory, { ...stdio, start: 'on-demand' } as ServerEntry);
    await fleet.servers.listed();
    expect([offer(), memory.recalled]).toEqual([undefined, []]);
    const own = new Memory(past);
    const program = start(own, { type: 'sdk', name: 'a' }, come);
    await program.fleet.servers.settled();
    expect([own.recalled, own.remembered]).toEqual([[], []]);
  });
});

describe('tools that an entry excludes', () => {
  const entry: ServerEntry = {
    ...http,
    includeTools: ['get_*', 'lost'],
    excludeTools: ['*_secret'],
  } as never;
  const listed = [tool('get_a'), tool('get_secret'), tool('put_a')];

  test('are not offered, also from the cache, and unmatched patterns are reported once', async () => {
    const warnings: string[] = [];
    const onWarning = (_: string, message: string) => void warnings.push(message);
    const door = Promise.withResolvers<void>();
    const fleet = new Fleet({ onWarning }, { toolCache: new Memory(listed) });
    fleet.set('a', () => door.promise);
    fleet.tools = listed;
    fleet.servers.add({ a: entry }, 'dynamic');
    await fleet.servers.listed();
    expect(fleet.servers.tools.get('a')).toEqual([tool('get_a')]);
    expect(warnings).toEqual([]);
    door.resolve();
    await fleet.servers.settled();
    await fleet.servers.reconnect('a');
    expect(fleet.servers.tools.get('a')).toEqual([tool('get_a')]);
    expect(fleet.state('a')).toMatchObject({ tools: 1 });
    expect(warnings).toEqual(['"includeTools" names "lost", which matches no tool of the server']);
  });

  test('cannot be called', async () => {
    const fleet = new Fleet();
    fleet.servers.add({ a: entry }, 'dynamic');
    await fleet.servers.settled();
    const target = fleet.servers.target('a');
    if (!target) throw new Error('no target');
    const call = (name: string) => callTool(target, { server: 'a', tool: name, args: {} }, memoryJournal());
    expect(await call('get_a')).toEqual({});
    for (const name of ['put_a', 'get_secret', '__proto__']) {
      await expect(call(name)).rejects.toMatchObject({
        code: 'excluded',
        hasRun: 'no',
        message: expect.stringContaining(`excludes the tool "${name}"`),
      });
    }
  });

  test.each([
    ['of a server on the network', { ...http, includeTools: 'x' }],
    ['of a server in the program', { type: 'sdk', name: 'a', excludeTools: [7] }],
  ])('with an invalid filter %s, the server fails', async (_, bad) => {
    const fleet = new Fleet();
    fleet.servers.add({ a: bad as never }, 'dynamic');
    await fleet.servers.settled();
    expect(fleet.dials).toEqual([]);
    expect(fleet.state('a')).toMatchObject({
      state: 'failed',
      cause: { code: 'bad-config', message: expect.stringContaining('must be a list of tool names') },
    });
  });
});
