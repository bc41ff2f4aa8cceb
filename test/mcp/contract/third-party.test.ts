import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHost, type Host, type HostServerEntry } from '../../../src/entry/host.ts';
import { ENV, KEY, outcomeOf, textOf } from './support/drive.ts';
import { PROCESSES, startEverything } from './support/third-party-servers.ts';

/** A host that is connected to one server. */
async function hostWith(entry: HostServerEntry): Promise<Host> {
  const host = createHost({
    env: ENV,
    mcpServers: { [KEY]: entry },
    handlers: {
      elicitation: async () => ({ action: 'decline' }),
      sampling: async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'rehearsed' } }),
      roots: [{ uri: 'file:///somewhere', name: 'somewhere' }],
    },
  });
  try {
    await host.ready({ servers: [KEY], deadline: 15_000 });
  } catch (cause) {
    await host.close();
    throw cause;
  }
  return host;
}

type Reached = AsyncDisposable & { entry: HostServerEntry };

const WAYS: { name: string; reach(): Promise<Reached> }[] = [
  {
    name: 'stdio',
    reach: async () => ({ entry: PROCESSES.everything, [Symbol.asyncDispose]: async () => {} }),
  },
  {
    name: 'http',
    reach: async () => {
      const far = await startEverything('streamableHttp');
      return { ...far, entry: { type: 'http', url: far.url } };
    },
  },
  {
    name: 'sse',
    reach: async () => {
      const far = await startEverything('sse');
      return { ...far, entry: { type: 'sse', url: far.url } };
    },
  },
];

describe.each(WAYS)('the reference server over $name', ({ reach }) => {
  let far: Reached;
  let host: Host;
  beforeAll(async () => {
    far = await reach();
    host = await hostWith(far.entry);
  });
  afterAll(async () => {
    await host?.close();
    await far?.[Symbol.asyncDispose]();
  });

  test('is connected as what it is', () => {
    expect(host.status()[KEY]).toMatchObject({
      state: 'connected',
      era: 'legacy',
      protocolVersion: '2025-11-25',
      serverInfo: { name: expect.stringContaining('everything') },
    });
  });

  test('lists its tools, those too that need what we offer', async () => {
    const names = (await host.listTools()).map(({ name }) => name);
    const some = ['echo', 'get-sum', 'trigger-sampling-request', 'trigger-elicitation-request'];
    expect(names).toEqual(expect.arrayContaining([...some, 'get-roots-list']));
  });

  test('answers calls', async () => {
    expect(textOf(await host.callTool(KEY, 'echo', { message: 'hello' }))).toBe('Echo: hello');
    expect(textOf(await host.callTool(KEY, 'get-sum', { a: 2, b: 40 }))).toContain('42');
    const weather = await host.callTool(KEY, 'get-structured-content', { location: 'New York' });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  test('tells of its progress', async () => {
    const steps: number[] = [];
    const args = { duration: 0.3, steps: 3 };
    await host.callTool(KEY, 'trigger-long-running-operation', args, {
      timeoutMs: 5000,
      onProgress: ({ progress }) => steps.push(progress),
    });
    expect(steps.slice(0, 2)).toEqual([1, 2]);
  });

  test('is answered what it asks', async () => {
    const sampled = await host.callTool(KEY, 'trigger-sampling-request', { prompt: 'hi', maxTokens: 5 });
    expect(JSON.stringify(sampled.content)).toContain('rehearsed');
    const declined = await host.callTool(KEY, 'trigger-elicitation-request', {});
    expect(JSON.stringify(declined.content)).toMatch(/declined/i);
    const roots = await host.callTool(KEY, 'get-roots-list', {});
    expect(JSON.stringify(roots.content)).toContain('file:///somewhere');
  });

  test('refuses a tool it does not have', async () => {
    const { isError, text } = await outcomeOf(host.callTool(KEY, 'nonesuch', {}));
    expect(isError).toBe(true);
    expect(text).toContain('nonesuch');
  });
});

describe('servers for one thing', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'contract-peers-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('files are read and written, and only where that is allowed', async () => {
    await writeFile(join(folder, 'in.txt'), 'žluťoučký');
    await using host = await hostWith(PROCESSES.filesystem(folder));
    const read = await host.callTool(KEY, 'read_text_file', { path: join(folder, 'in.txt') });
    expect(textOf(read)).toBe('žluťoučký');
    await host.callTool(KEY, 'write_file', { path: join(folder, 'out.txt'), content: 'written' });
    expect(await readFile(join(folder, 'out.txt'), 'utf8')).toBe('written');
    expect(await outcomeOf(host.callTool(KEY, 'read_text_file', { path: '/etc/passwd' }))).toMatchObject({
      isError: true,
    });
  });

  test('what was told once is remembered', async () => {
    await using host = await hostWith(PROCESSES.memory(join(folder, 'memory.jsonl')));
    const entities = [{ name: 'tea', entityType: 'drink', observations: ['warm'] }];
    await host.callTool(KEY, 'create_entities', { entities });
    await host.reconnect(KEY);
    const { structuredContent } = await host.callTool(KEY, 'read_graph', {});
    expect(structuredContent).toMatchObject({ entities });
  });

  test('a server that speaks the newer protocol by itself is understood so', async () => {
    await using host = await hostWith(PROCESSES.context7);
    // A server that starts slowly may count as legacy at first; the era of its late response is remembered.
    await host.reconnect(KEY);
    expect(host.status()[KEY]).toMatchObject({
      state: 'connected',
      era: 'modern',
      protocolVersion: '2026-07-28',
    });
    const names = (await host.listTools()).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['query-docs', 'resolve-library-id']);
  });

  test('a server in another language is a server like any other (R151)', async () => {
    await using host = await hostWith(PROCESSES.python);
    expect(host.status()[KEY]).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'snake', version: '3' },
    });
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'hallo, Welt: ß 🐍' }))).toBe('hallo, Welt: ß 🐍');
    expect(await host.callTool(KEY, 'add', { a: 2, b: 40 })).toMatchObject({
      structuredContent: { sum: 42 },
    });
    const { isError, text } = await outcomeOf(host.callTool(KEY, 'nonesuch', {}));
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('nonesuch') });
  });
});
