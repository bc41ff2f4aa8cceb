// Messages of channels: how many a host stores per second, and how soon an agent has them.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type * as Host from '../../src/entry/host.ts';
import type * as Sdk from '../../src/entry/index.ts';

export type FlowTask = { sdk: string; host: string; messages: number; wakes: number };

export type FlowReport = {
  /** Messages that were stored and acknowledged per second. */
  perSecond: number;
  /** Milliseconds from `send()` to the start of the turn with the message. */
  idle: number[];
  /** The same while other channels push 500 messages per second. */
  loaded: number[];
};

const task = JSON.parse(process.argv[2] as string) as FlowTask;
const directory = mkdtempSync(join(process.env.HOME as string, 'channels-'));
const { createHost }: typeof Host = await import(task.host);
const { AgentClient, toolServer }: typeof Sdk = await import(task.sdk);
try {
  const report: FlowReport = {
    perSecond: await admission(),
    idle: await wakeUps('idle'),
    loaded: await wakeUps('loaded'),
  };
  process.stdout.write(JSON.stringify(report));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function admission(): Promise<number> {
  const path = fileURLToPath(new URL('push-messages.mjs', import.meta.url));
  const over = Promise.withResolvers<void>();
  await using host = createHost({
    mcpServers: { push: { command: process.execPath, args: [path, String(task.messages), '200'] } },
    cacheDirectory: false,
    channels: {
      servers: { push: { maxPerMinute: 10_000_000 } },
      directory: join(directory, 'host'),
      // Nothing is delivered meanwhile.
      onMessage: () => over.promise,
    },
  });
  await host.ready({ servers: ['push'] });
  const since = performance.now();
  await host.callTool('push', 'go');
  const perSecond = (task.messages / (performance.now() - since)) * 1000;
  over.resolve();
  return perSecond;
}

async function wakeUps(how: 'idle' | 'loaded'): Promise<number[]> {
  const news = toolServer('news', { channel: true });
  const noise = Array.from({ length: 5 }, (_, at) => toolServer(`noise${at}`, { channel: true }));
  const servers = [news, ...noise];
  await using client = await AgentClient.open({
    mcpServers: Object.fromEntries(servers.map((server) => [server.name, server])),
    channels: servers.map(({ name }) => `server:${name}`),
    model: 'rehearsal',
    cwd: directory,
    persistSession: false,
    env: { PATH: process.env.PATH ?? '', TOOLPLANE_HOME: join(directory, how) },
  });
  await client.ask('hello');
  const waiting = new Map<string, () => void>();
  void (async () => {
    for await (const message of client.messages()) {
      const { channel_messages: given } = message as { channel_messages?: { id: string }[] };
      for (const { id } of given ?? []) waiting.get(id)?.();
    }
  })().catch(() => {});
  const over = new AbortController();
  const loading =
    how === 'loaded' ? Promise.all(noise.map((server) => makeNoise(server, over.signal))) : undefined;
  const times: number[] = [];
  for (let at = 0; at < task.wakes; at++) {
    const arrived = Promise.withResolvers<void>();
    const id = `${how}-${at}`;
    waiting.set(id, arrived.resolve);
    const since = performance.now();
    await news.channel.send('wake up', { id });
    await arrived.promise;
    times.push(performance.now() - since);
    await delay(5);
  }
  over.abort();
  await loading;
  return times;
}

async function makeNoise(server: ReturnType<typeof Sdk.toolServer>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (let at = 0; at < 10; at++) await server.channel.send('noise '.repeat(20));
    await delay(100, undefined, { signal }).catch(() => {});
  }
}
