import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import { Pins } from '../../../src/pool/pinning/pins.ts';
import type { CanUseTool, Options } from '../../../src/sdk/options/options.ts';

import { CALL, CHANGED, DIFFERENCE, FIND, FIXTURE, RELOAD, scene } from '../../support/changing.ts';
import { collect } from '../../support/collect.ts';
import { drive, results } from '../../support/drive.ts';

const PERSON = { ...FIND, _meta: { 'anthropic/requiresUserInteraction': true } };
const AGAIN = 'the call was not sent, so call the tool again';
type Scene = Awaited<ReturnType<typeof scene>>;

/** Calls a tool from the list that an earlier session cached: the server connects only when the call is made. */
async function callFromMemory({ file, host }: Scene, options: Options, more: Partial<SessionOptions>) {
  writeFileSync(`${file}.hold`, '');
  const { query, model } = drive(
    async (_, n) => {
      rmSync(`${file}.hold`, { force: true });
      return n === 1 ? CALL('t1') : text('ok');
    },
    options,
    host(more),
  );
  const messages = await collect(query);
  return { told: results(model.requests.at(-1)).t1, messages };
}

/** Makes the server list other tools and announce the change. */
async function change({ file, list, notes }: Scene, tool = CHANGED): Promise<void> {
  list(tool, RELOAD);
  writeFileSync(`${file}.notify`, '1');
  await vi.waitFor(() => expect(notes).toEqual([expect.stringContaining('First send')]));
}

test.each([1, 2, 3])(
  'a changed tool requires approval although its server failed %i times at start',
  async (times) => {
    const at = await scene();
    const { file, list, asked, answering, session, cached } = at;
    expect(await session(1, {}, cached())).toEqual(['find ran']);
    list(CHANGED);
    writeFileSync(`${file}.die`, String(times));
    const { told, messages } = await callFromMemory(at, { canUseTool: answering('deny') }, cached());
    // The permission request is sent only if the change arrived in time.
    expect(told).toMatch(asked.length === 1 ? /^!no$/ : /^!MCP server "s": /);
    expect(messages.at(-1)).toMatchObject({ permission_denials: asked.map(() => ({ tool_use_id: 't1' })) });
  },
);

test('a call that cannot be made is not asked about and runs PostToolUseFailure hooks', async () => {
  const at = await scene();
  const { file, asked, answering, session, cached } = at;
  await session(1, {}, cached());
  writeFileSync(`${file}.die`, '99');
  const heard: string[] = [];
  const hear = async (input: { hook_event_name: string }) => {
    heard.push(input.hook_event_name);
    return {};
  };
  const hooks = {
    PostToolUseFailure: [{ hooks: [hear] }],
    PermissionDenied: [{ hooks: [hear] }],
  };
  const { told } = await callFromMemory(at, { hooks, canUseTool: answering('allow') } as Options, {
    ...cached(),
    rules: [],
  });
  expect(told).toMatch(/^!MCP server "s": /);
  expect(heard).toEqual(['PostToolUseFailure']);
  expect(asked).toEqual([]);
});

test('a tool that changed during a reconnect requires approval', async () => {
  const at = await scene();
  const { file, list, asked, answering, host } = at;
  const { query, model } = drive(
    async (_, n) => {
      if (n === 2) writeFileSync(`${file}.drop`, '1');
      if (n === 2) list(CHANGED, RELOAD);
      return n === 4 ? text('ok') : CALL(`t${n}`);
    },
    { canUseTool: answering('deny') },
    host(),
  );
  await collect(query);
  expect(results(model.requests.at(-1))).toEqual({
    t1: 'find ran',
    t2: expect.stringMatching(/^!.*the call may have run/),
    t3: '!no',
  });
  expect(asked).toEqual([expect.stringContaining(DIFFERENCE)]);
});

test('a call is not retried on a connection whose tool definition differs', async () => {
  const { file, list, asked, answering, host } = await scene();
  const servers = { s: { ...host().servers?.s, trust: true } } as NonNullable<SessionOptions['servers']>;
  const { query, model } = drive(
    async (_, n) => {
      if (n === 2) writeFileSync(`${file}.drop`, '1');
      if (n === 2) list(CHANGED, RELOAD);
      return n === 3 ? text('ok') : CALL(`t${n}`);
    },
    { canUseTool: answering('deny') },
    host({ servers, rules: [] }),
  );
  await collect(query);
  expect(results(model.requests.at(-1)).t2).toMatch(
    /^!.*tool "find" changed after permission for this call was decided; the connection was lost during an earlier attempt, so the call may have run and was not sent again/,
  );
  expect(asked).toEqual([]);
});

test('requiresUserInteraction is read from the current tool list, not from the cached one', async () => {
  const at = await scene();
  const { list, asked, answering, session, cached } = at;
  await session(1, {}, { ...cached(), pins: new Pins() });
  list(PERSON);
  const { told } = await callFromMemory(
    at,
    {
      canUseTool: async (...args) => {
        expect(args[2].suggestions ?? []).toEqual([]);
        return answering('deny')(...args);
      },
    },
    { ...cached(), pins: new Pins() },
  );
  expect(told).toBe('!no');
  expect(asked).toEqual(['mcp__s__find requires user interaction']);
});

test('the current tool list also counts when the new definition is already accepted', async () => {
  const at = await scene();
  const { list, asked, answering, session, cached, host } = at;
  await session(1, {}, cached());
  list(PERSON);
  // Accepted in a session with another cache of tool lists.
  expect(await session(1, { canUseTool: async () => ({ behavior: 'allow' }) }, host())).toEqual(['find ran']);
  const { told } = await callFromMemory(at, { canUseTool: answering('deny') }, cached());
  expect(told).toBe('!no');
  expect(asked).toHaveLength(1);
});

test('a second call of the same batch uses the current annotations', async () => {
  const at = await scene();
  const { asked, answering, host } = at;
  const servers = { s: { ...host().servers?.s, trust: true } } as NonNullable<SessionOptions['servers']>;
  const destructive = { ...CHANGED, annotations: { destructiveHint: true } };
  let calls = 0;
  const hook = async () => {
    if (calls++ === 0) await change(at, destructive);
    return {};
  };
  const { query, model } = drive(
    [together(CALL('t1'), CALL('t2')), text('ok')],
    {
      hooks: { PreToolUse: [{ hooks: [hook] }] },
      canUseTool: (...args) => answering(asked.length === 0 ? 'allow' : 'deny')(...args),
    },
    host({ servers, rules: [] }),
  );
  await collect(query);
  expect(results(model.requests.at(-1))).toEqual({ t1: 'find ran', t2: '!no' });
  expect(asked).toEqual([expect.stringContaining('is not accepted'), 'mcp__s__find may be destructive']);
});

test.each(['plan', 'dontAsk'] as const)(
  'a read-only tool of a trusted server runs in mode %s, also if it is known only from the cache',
  async (permissionMode) => {
    const at = await scene();
    const { session, cached, host } = at;
    const servers = { s: { ...host().servers?.s, trust: true } } as NonNullable<SessionOptions['servers']>;
    const more = () => ({ ...cached(), servers, rules: [], permissionMode });
    expect(await session(1, {}, more())).toEqual(['find ran']);
    expect((await callFromMemory(at, {}, more())).told).toBe('find ran');
  },
);

test('a tool that is no longer listed is not called', async () => {
  const at = await scene();
  const { list, session, cached } = at;
  await session(1, {}, cached());
  list(RELOAD);
  expect((await callFromMemory(at, {}, cached())).told).toBe(
    '!MCP server "s": tool "find" is no longer listed by the server; nothing was sent',
  );
});

test.each<[string, Awaited<ReturnType<CanUseTool>>]>([
  ['as it is', { behavior: 'allow' }],
  ['with an input', { behavior: 'allow', updatedInput: { q: 'x' } }],
])('a call approved for one definition %s does not run a newer definition', async (_, answer) => {
  const at = await scene();
  const { asked, answering, host } = at;
  const { query, model } = drive(
    [CALL('t1'), CALL('t2'), text('ok')],
    {
      canUseTool: async (...args) => {
        if (asked.length > 0) return answering('deny')(...args);
        asked.push(args[2].decisionReason);
        await change(at);
        return answer;
      },
    },
    host({ rules: [] }),
  );
  await collect(query);
  expect(results(model.requests.at(-1))).toEqual({
    t1: expect.stringContaining(`tool "find" changed after permission for this call was decided; ${AGAIN}`),
    t2: '!no',
  });
  expect(asked).toEqual([expect.not.stringContaining('accepted'), expect.stringContaining(DIFFERENCE)]);
});

test('an approved call is not sent to another server that took over the key', async () => {
  const { root, file, host } = await scene();
  const other = join(root, 'other.json');
  writeFileSync(other, JSON.stringify([FIND]));
  const key = (path: string, label: string) => ({
    s: { type: 'stdio' as const, command: process.execPath, args: [FIXTURE, path, label] },
  });
  const { query, model } = drive(
    [CALL('t1'), text('ok')],
    {
      canUseTool: async () => {
        await query.setMcpServers(key(other, 'OTHER: '));
        return { behavior: 'allow' };
      },
    },
    host({ rules: [], servers: key(file, '') }),
  );
  await collect(query);
  expect(results(model.requests.at(-1)).t1).toContain(
    `the server was replaced after permission for this call was decided; ${AGAIN}`,
  );
});

test('an unchanged tool runs after a prompt, changes of other tools and a reconnect', async () => {
  const { file, list, notes, host, answering } = await scene();
  const { query, model } = drive(
    [CALL('t1'), toolUse('mcp__s__find', { q: 'x' }, 't2'), text('ok')],
    {
      canUseTool: async (...args) => {
        list({ ...RELOAD, title: 'Reload' }, { ...FIND, icons: [] } as never);
        writeFileSync(`${file}.notify`, '1');
        await vi.waitFor(() => expect(notes).toHaveLength(1));
        await query.reconnectMcpServer('s');
        return answering('allow')(...args);
      },
    },
    host({ rules: [] }),
  );
  await collect(query);
  expect(results(model.requests.at(-1))).toEqual({ t1: 'find ran', t2: 'find ran' });
});
