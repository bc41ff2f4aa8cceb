import { expect, test } from 'vitest';
import * as z from 'zod';
import { type SdkServer, toolServer } from '../../../src/tool-server/sdk-server.ts';

const NESTED = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const STATELESS = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** Sends the text of a message. */
async function send(url: string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const request = (method: string, params: object, id: string | number = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

const call = (name: string, args: string, meta: object) =>
  request('tools/call', { _meta: meta, name, arguments: 'ARGUMENTS' }).replace('"ARGUMENTS"', args);

const callHeaders = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});

async function openSession(url: string): Promise<Record<string, string>> {
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { headers } = await send(url, request('initialize', params));
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

const asking = (): SdkServer =>
  toolServer('ask')
    .tool('ask', 'Asks', { any: z.unknown() }, async (_, { elicit }) => {
      const { action } = await elicit({ message: 'Name?', requestedSchema: { name: z.string() } });
      return action;
    })
    .tool('echo', 'Echoes', { any: z.unknown() }, ({ any }) => JSON.stringify(any));

test('a message that is nested too deep is refused, and the server goes on', async () => {
  await using server = await asking().listen();
  const args = `{"any":${NESTED}}`;
  const alone = await send(server.url, call('ask', args, STATELESS), callHeaders('ask'));
  expect(alone.status).toBe(400);
  expect(JSON.parse(alone.text)).toMatchObject({ id: 1, error: { code: -32600 } });
  const session = await openSession(server.url);
  expect((await send(server.url, call('echo', args, {}), session)).status).toBe(400);
  expect((await send(server.url, `{"jsonrpc":"2.0","id":${NESTED},"method":"ping"}`, session)).status).toBe(
    400,
  );
  const flat = await send(server.url, call('echo', '{"any":[[1]]}', STATELESS), callHeaders('echo'));
  expect(JSON.parse(flat.text).result.content).toEqual([{ type: 'text', text: '[[1]]' }]);
});

test('messages for a client that never reads them are limited in size', async () => {
  const server = toolServer('push', { channel: {} });
  await using http = await server.listen();
  const session = await openSession(http.url);
  const part = 'x'.repeat(256 * 1024);
  for (let n = 0; n < 20; n++) await server.channel.send(`${n} ${part}`);
  const stream = await fetch(http.url, { headers: { accept: 'text/event-stream', ...session } });
  // Reading stops at this short message.
  await server.channel.send('last');
  let text = '';
  for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes('"last"')) break;
  }
  expect(text.length).toBeGreaterThan(part.length);
  expect(text.length).toBeLessThan(5 * part.length);
});
