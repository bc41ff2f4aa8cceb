import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Inbox } from '../../src/channels/inbox.ts';
import { createHost } from '../../src/entry/host.ts';
import { toolServer } from '../../src/entry/index.ts';
import type { ChannelMessage } from '../../src/host/host-channels.ts';

/** A host with the channels `a` and `b`, whose program handles messages as the test says. */
async function open(
  onMessage: (message: ChannelMessage) => void | Promise<void>,
  directory = newDirectory(),
) {
  const [a, b] = [toolServer('a', { channel: true }), toolServer('b', { channel: true })];
  const warnings: string[] = [];
  const host = createHost({
    mcpServers: { a, b },
    cacheDirectory: false,
    channels: { servers: { a: true, b: true }, directory, onMessage },
  });
  void (async () => {
    for await (const event of host.events) if (event.type === 'warning') warnings.push(event.message);
  })();
  onTestFinished(() => host[Symbol.asyncDispose]());
  await host.ready();
  return { host, a, b, warnings, directory };
}

const newDirectory = () => mkdtempSync(join(tmpdir(), 'host-channels-'));

async function statesIn(directory: string) {
  using inbox = await Inbox.open(directory);
  return inbox.messages({}, 100).map(({ id, state }) => `${id} ${state}`);
}

describe('the channels of a host', () => {
  test('pass messages to the program, one at a time and in order', async () => {
    const seen: string[] = [];
    let running = 0;
    const { a, directory } = await open(async ({ id, text }) => {
      expect(++running).toBe(1);
      await new Promise(setImmediate);
      running--;
      seen.push(`${id} ${text.includes('<channel source="a"')}`);
    });
    for (const id of ['1', '2', '3']) await a.channel.send('x', { id });
    await expect.poll(() => seen).toEqual(['1 true', '2 true', '3 true']);
    await expect.poll(() => statesIn(directory)).toEqual(['1 delivered', '2 delivered', '3 delivered']);
  });

  test('deliver a message again that the program could not handle, before later ones of its server', async () => {
    const seen: string[] = [];
    const { a, warnings } = await open(async ({ id }) => {
      seen.push(id);
      if (seen.length === 1) throw new Error('not now');
    });
    for (const id of ['1', '2']) await a.channel.send('x', { id });
    await expect.poll(() => seen, { timeout: 5_000 }).toEqual(['1', '1', '2']);
    expect(warnings.join()).toMatch(/channel "a": onMessage failed for message "1" \(not now\)/);
  });

  test('are not held up by a server whose messages the program cannot handle', async () => {
    const seen: string[] = [];
    const { a, b, directory } = await open(async ({ id, source }) => {
      if (source === 'a') throw new Error('never');
      seen.push(id);
    });
    await a.channel.send('x', { id: 'a1' });
    for (const id of ['b1', 'b2', 'b3']) await b.channel.send('x', { id });
    await expect.poll(() => seen, { timeout: 400 }).toEqual(['b1', 'b2', 'b3']);
    expect(await statesIn(directory)).toContain('a1 pending');
  });

  test('keep what the program has not handled for the next one', async () => {
    const directory = newDirectory();
    const first = await open(() => Promise.reject(new Error('broken')), directory);
    await first.a.channel.send('x', { id: '1' });
    await expect.poll(() => first.warnings.length).toBeGreaterThan(0);
    await first.host[Symbol.asyncDispose]();
    const seen: string[] = [];
    await open(({ id }) => void seen.push(id), directory);
    await expect.poll(() => seen).toEqual(['1']);
  });
});
