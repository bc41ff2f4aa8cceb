import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { createHost } from '../../src/entry/host.ts';
import type { HostEvent, HostOptions } from '../../src/host/host-options.ts';
import { toolServer } from '../../src/tool-server/sdk-server.ts';

const mail = () =>
  toolServer('mail')
    .tool('send', 'Sends an email to an address', { to: z.string() }, ({ to }) => `sent to ${to}`)
    .tool('list folders', 'Lists the folders of the mailbox', {}, () => 'inbox', {
      annotations: { readOnlyHint: true },
    });
const files = () => toolServer('files').tool('remove', 'Deletes a file from the disk', {}, () => 'gone');

test('lists all tools as a model receives them, sorted, with token costs, callable by name', async () => {
  await using host = createHost({ mcpServers: { mail: mail(), files: files() } });
  await host.ready();
  const pool = await host.pool({ marks: true });
  expect(
    pool.tools.map(({ name, server, tool, description }) => ({ name, server, tool, description })),
  ).toEqual([
    {
      name: 'mcp__files__remove',
      server: 'files',
      tool: 'remove',
      description: 'Deletes a file from the disk',
    },
    {
      name: 'mcp__mail__list_folders',
      server: 'mail',
      tool: 'list folders',
      description: 'Lists the folders of the mailbox (readOnly)',
    },
    { name: 'mcp__mail__send', server: 'mail', tool: 'send', description: 'Sends an email to an address' },
  ]);
  expect(pool.tokens).toBe(pool.tools.reduce((sum, { tokens }) => sum + tokens, 0));
  expect(pool.tokens).toBeGreaterThan(40);
  expect(pool.get('mcp__mail__send')?.inputSchema).toMatchObject({ properties: { to: { type: 'string' } } });
  expect(await pool.call('mcp__mail__list_folders')).toMatchObject({ content: [{ text: 'inbox' }] });
  expect(await pool.call('mcp__mail__send', { to: 'Ada' })).toMatchObject({
    content: [{ text: 'sent to Ada' }],
  });
  await expect(pool.call('mail__send')).rejects.toMatchObject({
    code: 'unknown-tool',
    message: 'this pool has no tool "mail__send"',
  });
});

test('searches by purpose, in one server or in all', async () => {
  await using host = createHost({ mcpServers: { mail: mail(), files: files() } });
  await host.ready();
  const pool = await host.pool();
  expect((await pool.search('write an email', { limit: 1 })).map(({ name }) => name)).toEqual([
    'mcp__mail__send',
  ]);
  const names = async (...asked: Parameters<typeof pool.search>) =>
    (await pool.search(...asked)).map(({ name }) => name);
  expect(await names('email', { server: 'files' })).not.toContain('mcp__mail__send');
  expect(await names('server:files email')).not.toContain('mcp__mail__send');
  expect(await names('select:send,mcp__files__remove')).toEqual(['mcp__mail__send', 'mcp__files__remove']);
  expect(await names('readonly:true')).toEqual(['mcp__mail__list_folders']);
  expect(await names('', { server: 'mail' })).toEqual(['mcp__mail__list_folders', 'mcp__mail__send']);
  await expect(pool.search('x', { server: 'fils' })).rejects.toMatchObject({ code: 'unknown-server' });
});

test('concurrent searches of different pools do not interfere', async () => {
  await using host = createHost({ mcpServers: { mail: mail(), files: files() } });
  await host.ready();
  const pools = [await host.pool(), await host.pool({ marks: true }), await host.pool({ maxNameLength: 20 })];
  const found = await Promise.all(pools.map((pool) => pool.search('list the folders', { limit: 1 })));
  expect(found.map(([tool]) => tool?.tool)).toEqual(Array(3).fill('list folders'));
  expect(found.map(([tool], at) => tool === pools[at]?.get(tool?.name ?? ''))).toEqual([true, true, true]);
});

test("names respect the model's limit, and aliases are listed", async () => {
  await using host = createHost({ mcpServers: { ['m'.repeat(70)]: mail() } });
  await host.ready();
  const pool = await host.pool({ maxNameLength: 64 });
  expect(pool.tools.every(({ name }) => name.length <= 64)).toBe(true);
  expect(pool.diagnostics.map(({ fault }) => fault)).toEqual(['name-too-long', 'name-too-long']);
  const send = pool.tools.find(({ tool }) => tool === 'send');
  expect(await pool.call(send?.name ?? '', { to: 'B' })).toMatchObject({ content: [{ text: 'sent to B' }] });
});

test.each([
  [{ maxNameLength: 8 }, /"maxNameLength" must be a number, 16 or more/],
  [{ mark: true }, /"mark" is not an option; did you mean "marks"/],
])('%j is refused', async (options, message) => {
  await using host = createHost();
  await expect(host.pool(options as never)).rejects.toThrow(message);
});

test('a tool that changed after a restart is reported, listed and can be accepted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'pins-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const tools = join(directory, 'tools.json');
  const s = {
    command: process.execPath,
    args: [fileURLToPath(new URL('../support/fixtures/changing-server.mjs', import.meta.url)), tools],
  };
  const run = async (description: string, accepts = false) => {
    writeFileSync(tools, JSON.stringify([{ name: 'find', description, inputSchema: { type: 'object' } }]));
    await using host = createHost({ mcpServers: { s }, pinsDirectory: join(directory, 'pins') });
    const seen: HostEvent[] = [];
    host.events.on((event) => void seen.push(event));
    await host.ready();
    const changes = host.changes().map(({ tool, text }) => `${tool}: ${text}`);
    const pool = await host.pool();
    expect(pool.tools.map(({ change }) => change !== undefined)).toEqual([changes.length > 0]);
    expect(() => host.accept('unknown')).toThrow('unknown server; available: s');
    const accepted = accepts ? host.accept('s', 'find').map(({ tool }) => tool) : [];
    return { changes, accepted, told: seen.flatMap((it) => (it.type === 'changed' ? [it.text] : [])) };
  };
  expect(await run('Finds')).toEqual({ changes: [], accepted: [], told: [] });
  const change = expect.stringMatching(/^(find: )?the tool changed since it was accepted: .*Steals/);
  expect(await run('Steals')).toEqual({ changes: [change], accepted: [], told: [change] });
  expect(await run('Steals', true)).toMatchObject({ accepted: ['find'] });
  expect(await run('Steals')).toEqual({ changes: [], accepted: [], told: [] });
});

/** Hosts one after the other on a server whose tools the test writes. */
function restarted(options: HostOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'pins-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const tools = join(directory, 'tools.json');
  const s = {
    command: process.execPath,
    args: [fileURLToPath(new URL('../support/fixtures/changing-server.mjs', import.meta.url)), tools],
  };
  const list = (...listed: object[]) =>
    writeFileSync(tools, JSON.stringify(listed.map((it) => ({ inputSchema: { type: 'object' }, ...it }))));
  const open = async (more: HostOptions = {}) => {
    const host = createHost({
      mcpServers: { s },
      pinsDirectory: join(directory, 'pins'),
      ...options,
      ...more,
    });
    onTestFinished(() => host.close());
    await host.ready();
    return host;
  };
  return { list, open, s };
}

const RAN = { content: [{ text: 'find ran' }] };

test.each([
  ['changed', [{ name: 'find', description: 'Steals' }], 'the tool changed since it was accepted: .*Steals'],
  [
    'new',
    [
      { name: 'seek', description: 'Finds' },
      { name: 'find', description: 'Steals' },
    ],
    'the tool was added after the other tools of its server were accepted: .*Steals',
  ],
])('a %s tool is not called until it is accepted, unless the host allows it', async (kind, later, text) => {
  const { list, open } = restarted();
  list({ name: kind === 'new' ? 'seek' : 'find', description: 'Finds' });
  await (await open()).close();
  list(...later);
  const host = await open();
  const rejected = {
    code: 'tool-changed',
    server: 's',
    hasRun: 'no',
    message: expect.stringMatching(
      new RegExp(
        `^MCP server "s": the definition of tool "find" is not accepted: ${text}.*; nothing was sent. Accept it with accept\\("s", "find"\\), or create the host with changedTools: "allow"$`,
      ),
    ),
  };
  await expect(host.callTool('s', 'find')).rejects.toMatchObject(rejected);
  await expect((await host.pool()).call('mcp__s__find')).rejects.toMatchObject(rejected);
  expect(await (await open({ changedTools: 'allow' })).callTool('s', 'find')).toMatchObject(RAN);
  expect(host.accept('s', 'find').map(({ tool }) => tool)).toEqual(['find']);
  expect(await host.callTool('s', 'find')).toMatchObject(RAN);
});

test('without stored pins a host calls added tools but not changed ones', async () => {
  const { list, s } = restarted();
  const [find, reload] = [{ name: 'find', description: 'Finds' }, { name: 'reload' }];
  list(find, reload);
  await using host = createHost({ mcpServers: { s } });
  await host.ready();
  expect(await host.callTool('s', 'find')).toMatchObject(RAN);
  const relisted = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _ = host.events.on((event) => event.type === 'tools' && resolve());
    await host.callTool('s', 'reload');
    await promise;
  };
  list(find, reload, { name: 'seek' });
  await relisted();
  expect(await host.callTool('s', 'seek')).toMatchObject({ content: [{ text: 'seek ran' }] });
  list({ ...find, description: 'Steals' }, reload);
  await relisted();
  await expect(host.callTool('s', 'find')).rejects.toMatchObject({ code: 'tool-changed' });
});

test('a tool with hidden text from the start is called and listed among the changes', async () => {
  const { list, open } = restarted();
  list({ name: 'find', description: 'Fi\u200bnds' });
  const host = await open();
  expect(host.changes().map(({ tool }) => tool)).toEqual(['find']);
  expect(await host.callTool('s', 'find')).toMatchObject(RAN);
});
