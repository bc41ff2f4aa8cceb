import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Host } from '../../../src/entry/host.ts';
import { INFO, INSTRUCTIONS, largeText, TOOLS } from './fixtures/tools.ts';
import { able } from './support/cannot.ts';
import { journal, KEY, outcomeOf, type Pair, pair, textOf } from './support/drive.ts';
import { until } from './support/until.ts';

describe.each(able('calls'))('R23 R158 over $name', (setUp) => {
  let both: Pair;
  let host: Host;
  beforeAll(async () => {
    both = await pair(setUp);
    host = both.host;
  });
  afterAll(() => both?.[Symbol.asyncDispose]());

  test('it is connected, and says in which protocol', () => {
    const protocolVersion = setUp.era === 'modern' ? '2026-07-28' : '2025-11-25';
    expect(host.status()).toMatchObject({
      [KEY]: { state: 'connected', era: setUp.era, protocolVersion, tools: Object.keys(TOOLS).length },
    });
  });

  test('it says who the server is and what it wants to be known', () => {
    expect(host.status()[KEY]).toMatchObject({ serverInfo: INFO, instructions: INSTRUCTIONS });
  });

  test('its tools are listed under its key and by their own names (R136)', async () => {
    const tools = await host.listTools();
    expect(tools.map(({ server, name }) => [server, name])).toEqual(
      Object.keys(TOOLS).map((name) => [KEY, name]),
    );
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      annotations: { readOnlyHint: true },
    });
  });

  test('a call is answered, structured content too', async () => {
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'hello' }))).toBe('hello');
    const sum = await host.callTool(KEY, 'add', { a: 2, b: 40 });
    expect(sum).toMatchObject({ content: [{ type: 'text', text: '42' }], structuredContent: { sum: 42 } });
  });

  test('a tool that fails is a result', async () => {
    const failed = await host.callTool(KEY, 'fail', { why: 'no paper' });
    expect(failed).toMatchObject({ isError: true, content: [{ type: 'text', text: 'no paper' }] });
  });

  test('a tool it does not have is refused in its own words', async () => {
    const { isError, text } = await outcomeOf(host.callTool(KEY, 'nonesuch', {}));
    expect(isError).toBe(true);
    expect(text).toMatch(/nonesuch/);
    expect(host.status()[KEY]?.state).toBe('connected');
  });

  test.concurrent('a hundred calls at once, answered in the opposite order, get each their own', async () => {
    const last = 99;
    const values = Array.from({ length: last + 1 }, (_, value) => value);
    const answers = await Promise.all(
      values.map((value) => host.callTool(KEY, 'after', { value, other: Math.min(value + 1, last) })),
    );
    expect(answers.map(textOf)).toEqual(values.map(String));
  });

  test.concurrent('five megabytes come whole', async () => {
    const size = 5 * 1024 * 1024;
    const text = textOf(await host.callTool(KEY, 'large', { size }));
    expect(text?.length).toBe(size);
    expect(text === largeText(size)).toBe(true);
  });

  test.each(['žluťoučký kůň', '日本語 🏳️‍🌈 👩‍👩‍👧', '\u2028\u2029 \u0000 "\\n', 'a\r\nb\tc', '\u{10FFFF}'])(
    'the text %j comes as it went',
    async (text) => {
      expect(textOf(await host.callTool(KEY, 'echo', { text }))).toBe(text);
    },
  );

  test.concurrent('an abort rejects at once, and the server hears of it', async () => {
    const abort = new AbortController();
    const call = host.callTool(KEY, 'hang', { key: 'aborted' }, { signal: abort.signal });
    call.catch(() => {});
    await until(async () => (await journal(host)).begun.includes('aborted'), 'the call began');
    const at = performance.now();
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - at).toBeLessThan(1000);
    await until(async () => (await journal(host)).cancelled.includes('aborted'), 'the call was taken back');
  });

  test.concurrent('a signal that is aborted already starts nothing', async () => {
    const call = host.callTool(KEY, 'hang', { key: 'never' }, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect((await journal(host)).begun).not.toContain('never');
  });

  test.concurrent('a hung call ends after its time, and the next one works (R183)', async () => {
    const call = host.callTool(KEY, 'hang', { key: 'slow' }, { timeoutMs: 300 });
    await expect(call).rejects.toMatchObject({ code: 'timeout', server: KEY });
    expect(textOf(await host.callTool(KEY, 'echo', { text: 'next' }))).toBe('next');
    await until(async () => (await journal(host)).cancelled.includes('slow'), 'the call was taken back');
  });

  test.concurrent('progress arrives in order, and each step begins the silence anew', async () => {
    const steps: unknown[] = [];
    const result = await host.callTool(
      KEY,
      'steps',
      { count: 6, everyMs: 200 },
      { timeoutMs: 1000, onProgress: ({ progress, total }) => steps.push([progress, total]) },
    );
    expect(textOf(result)).toBe('arrived');
    expect(steps).toEqual([1, 2, 3, 4, 5, 6].map((done) => [done, 6]));
  });

  test.concurrent('a silence that is too long ends a call that would tell of its progress', async () => {
    const call = host.callTool(KEY, 'hang', { key: 'silent' }, { timeoutMs: 200, onProgress: () => {} });
    await expect(call).rejects.toMatchObject({ code: 'timeout' });
  });
});
