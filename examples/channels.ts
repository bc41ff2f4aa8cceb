// Servers that push messages: an agent that reacts to them, and a host that receives them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const directory = await mkdtemp(join(tmpdir(), 'toolplane-channels-'));
process.chdir(directory);
process.env.TOOLPLANE_HOME = join(directory, 'home');
Object.assign(process.env, { WEBHOOK_TOKEN: 'sesame', WEBHOOK_PORT: '0', CHAT_PORT: '0' });

// #region push
import { AgentClient, toolServer } from 'toolplane';

const deploys = toolServer('deploys', { channel: true });

await using client = await AgentClient.open({
  mcpServers: { deploys },
  channels: ['server:deploys'],
  model: 'rehearsal', // an offline stand-in; leave it out to use a real model
});
await deploys.channel.send('Release 12 is live', { id: 'release-12', region: 'eu' });
for await (const message of client.messages()) {
  if (message.type === 'user') console.log('origin:', message.origin);
  if (message.type === 'result') break;
}
// #endregion
await client.close();

const received: string[] = [];
const arrived = Promise.withResolvers<void>();

const webhook = await import('./servers/webhook.ts');
const chat = await import('./servers/chat-bridge.ts');
const ci = await import('./servers/ci-alerts.ts');
/** The port of a server that has begun to listen. */
async function portOf({ listener }: { listener: Server }): Promise<number> {
  if (!listener.listening) await once(listener, 'listening');
  return (listener.address() as AddressInfo).port;
}

// #region host
import { createHost } from 'toolplane/host';

await using host = createHost({
  mcpServers: { webhook: webhook.default, chat: chat.default, ci: ci.default },
  channels: {
    servers: { webhook: true, chat: { senders: ['ann'] }, ci: true },
    onMessage: async ({ source, content, meta }) => {
      received.push(`${source}: ${content} ${JSON.stringify(meta)}`);
      if (source === 'ci') arrived.resolve();
    },
  },
});
await host.ready();
// #endregion

const hookPort = await portOf(webhook);
const post = (headers: Record<string, string>) =>
  fetch(`http://127.0.0.1:${hookPort}/build`, { method: 'POST', headers, body: 'Build 7 passed' });
assert.equal((await post({})).status, 401);
const headers = { authorization: 'Bearer sesame', 'x-request-id': 'hook-1' };
assert.equal((await post(headers)).status, 202);
assert.equal((await post(headers)).status, 202); // repeated, but delivered once

// Neither server minds a client that goes away in the middle of a message.
for (const [server, text] of [
  [webhook, `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sesame\r\nContent-Length: 9\r\n\r\nabc`],
  [chat, 'bob\nhalf a '],
] as const) {
  const gone = connect(await portOf(server), '127.0.0.1');
  await once(gone, 'connect');
  gone.write(text, () => gone.resetAndDestroy());
}

const ann = connect(await portOf(chat), '127.0.0.1');
const lines = createInterface(ann)[Symbol.asyncIterator]();
ann.write('ann\n');
assert.equal((await lines.next()).value, 'Hello ann.');
ann.write('Is it done?\n');
const status = createServer((_, response) =>
  response.end(JSON.stringify([{ id: 8, branch: 'main', status: 'failed' }])),
).listen(0, '127.0.0.1');
await once(status, 'listening');
await ci.check(`http://127.0.0.1:${(status.address() as AddressInfo).port}/`);
await arrived.promise;
await host.callTool('chat', 'reply', { to: 'ann', text: 'Yes.' });
assert.equal((await lines.next()).value, 'Yes.');

console.log(received.map((it) => it.replace(/[0-9a-f-]{36}/, '1')).join('\n'));
assert.equal(received.length, 3);
for (const it of [webhook.listener, chat.listener, status]) it.close();
ann.destroy();
await host.close();
process.chdir(tmpdir());
await rm(directory, { recursive: true });
