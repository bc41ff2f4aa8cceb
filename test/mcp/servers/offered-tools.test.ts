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

/** One server that has come, with everything that is told of its offer. */
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

describe('what changed is listed, and nothing else', () => {
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

  test('several in one burst, each once', async () => {
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

test('a server whose list changes with every look at it costs the rounds after nothing', async () => {
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
  // Time stands still: whoever waits would wait for ever.
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now();
    await servers.listed();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  }
  expect(it.lists).toBe(lists);
  await clock.advance(1_000);
  expect(it.lists).toBeGreaterThan(lists);
});

describe('what is the same stays the very same', () => {
  test('the whole offer, of which nobody hears', async () => {
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

describe('a list that holds for a time', () => {
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
  ])('is asked for again at the next use after %s', async (_, ttlMs, tools, holdsMs) => {
    const { fleet, it } = await one(holding(ttlMs, { tools }));
    await fleet.clock.advance(holdsMs - 1);
    await fleet.servers.listed();
    expect(it.lists).toBe(1);
    // Nobody asks for what nobody uses.
    await fleet.clock.advance(10);
    expect(it.lists).toBe(1);
    it.tools = [tool('other')];
    await fleet.servers.listed();
    expect(it.lists).toBe(2);
    expect(fleet.servers.tools.get('a')).toEqual([tool('other')]);
    await fleet.servers.listed();
    expect(it.lists).toBe(2);
  });

  test('one that says nothing of it holds for ever', async () => {
    const { fleet, it } = await one();
    await fleet.clock.advance(10_000_000);
    await fleet.servers.listed();
    expect(it.lists).toBe(1);
  });

  test('one that cannot be had is not asked for at every use, and what there was is kept', async () => {
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

test('a server that cannot list its prompts is used all the same, and that is told', async () => {
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

test('a server with faults without end is told of for a while', async () => {
  const { warnings } = await one((fleet) => {
    fleet.tools = Array.from({ length: 5_000 }, (_, at) => ({ name: `t${at}`, inputSchema: at }));
  });
  expect(warnings).toHaveLength(201);
  expect(warnings.at(-1)).toBe('its lists have more than 200 problems; further ones are not reported');
});

/** What servers listed in an earlier life, by whatever key. */
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

describe('what a server listed in an earlier life', () => {
  const past = [tool('echo'), tool('old')];
  const start = (memory: Memory, entry: ServerEntry = stdio, reply = hang, options: ServersOptions = {}) => {
    const fleet = new Fleet(options, { toolCache: memory });
    fleet.set('a', reply);
    fleet.servers.add({ a: entry }, 'dynamic');
    return { fleet, offer: () => fleet.servers.tools.get('a') };
  };

  test('is offered while it is dialled, for however long, and is not verified', async () => {
    const { fleet, offer } = start(new Memory(past));
    await fleet.servers.listed();
    expect(offer()).toEqual(past);
    expect(fleet.servers.isVerified('a')).toBe(false);
    expect(fleet.servers.all.get('a')).toMatchObject({ isVerified: false, state: { kind: 'pending' } });
    await fleet.clock.advance(25_000);
    expect(offer()).toEqual(past);
  });

  test('spares whoever needs only its tools the wait for it', async () => {
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

  test('gives way to what it lists itself; what is equal stays the same', async () => {
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

  test('waits for the dial when it is called', async () => {
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
    ['needs somebody to sign in', refuse('unauthorized')],
  ])('goes if it %s', async (_, reply) => {
    const door = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past), stdio, (name) => door.promise.then(() => reply(name)));
    await fleet.servers.listed();
    expect(offer()).toEqual(past);
    door.resolve();
    await fleet.servers.settled();
    expect(offer()).toBeUndefined();
  });

  test('goes a while after a dial that failed', async () => {
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

  test('comes too late if the server was quicker', async () => {
    const slow = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past, slow.promise), stdio, come);
    await fleet.servers.settled();
    slow.resolve();
    await fleet.servers.listed();
    expect(offer()).toEqual([tool('echo')]);
    expect(fleet.servers.isVerified('a')).toBe(true);
  });

  test('does not take the place of what it listed in this life, however late it comes', async () => {
    const slow = Promise.withResolvers<void>();
    const { fleet, offer } = start(new Memory(past, slow.promise), stdio, come);
    await fleet.servers.settled();
    fleet.set('a', hang);
    void fleet.servers.reconnect('a');
    slow.resolve();
    await fleet.servers.listed();
    expect(offer()).toEqual([tool('echo')]);
  });

  test('is only remembered if it is whole', async () => {
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

  test('is asked for once, and by a key that tells nothing', async () => {
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
  ])('is told to nobody who comes with other credentials: %s', (_, alice, bob) => {
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

  test('is the same in whatever order its environment is written', () => {
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

  test('is not shown of one that waits to be asked for, nor kept of one in the program', async () => {
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

describe('tools an entry leaves out', () => {
  const entry: ServerEntry = {
    ...http,
    includeTools: ['get_*', 'lost'],
    excludeTools: ['*_secret'],
  } as never;
  const listed = [tool('get_a'), tool('get_secret'), tool('put_a')];

  test('are not offered, also before the server has come, and names without a tool are told once', async () => {
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
    if (!target) throw new Error('nobody there');
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
  ])('in words nobody can read, %s, leave out the server', async (_, bad) => {
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
