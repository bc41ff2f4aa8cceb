import { describe, expect, test } from 'vitest';
import { listTools } from '../../../src/mcp/discovery/list-tools.ts';
import { startWeb } from '../transports/http/web.ts';
import { open } from './attempt.ts';
import { rawServer } from './raw-servers.ts';
import { testWorld } from './servers.ts';

const DEEP = `'{"a":'.repeat(20000) + '1' + '}'.repeat(20000)`;
const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
const TOO_DEEP = { code: 'too-large', message: expect.stringContaining('nested more than 512 levels deep') };

/** Greets with a deep `serverInfo`, lists a deep tool beside a flat one, and sends deep messages before it answers. */
const server = {
  ...rawServer(`(message, send) => {
    const { id, method } = message;
    const write = (text) => process.stdout.write(text + '\\n');
    const deep = ${DEEP};
    if (method === 'initialize') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"protocolVersion":"2025-11-25",' +
      '"capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"raw","version":"1","x":' + deep + '}}}');
    if (method === 'tools/list') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[' +
      '{"name":"deep","inputSchema":{"type":"object","properties":' + deep + '}},' +
      '{"name":"flat","inputSchema":{"type":"object"}}]}}');
    if (method === 'tools/call') {
      globalThis.call = id;
      const token = message.params._meta && message.params._meta.progressToken;
      write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":' + token + ',"progress":1,"x":' + deep + '}}');
      write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":' + deep + '}}');
      write('{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":' + deep + '}}');
    }
    if (id === 'q') send({ id: globalThis.call, result: { content: [{ type: 'text', text: JSON.stringify(message.error) }] } });
    if (method === 'prompts/get') write('{"jsonrpc":"2.0","id":' + id + ',"result":{"messages":' + deep + '}}');
    if (method === 'resources/read') write('{"jsonrpc":"2.0","id":' + id + ',"error":{"code":-1,"message":"no","data":' + deep + '}}');
    if (method === 'ping') send({ id, result: {} });
  }`),
  era: 'legacy' as const,
};

describe('a message nested too deep', () => {
  test('costs neither the connection nor what comes after it', async () => {
    const [noise, logs, progress]: [string[], unknown[], unknown[]] = [[], [], []];
    const world = testWorld({
      onNoise: (_, what) => noise.push(what),
      onLog: (_, entry) => logs.push(entry),
      offerTo: () => ({
        capabilities: { elicitation: {} },
        answers: { 'elicitation/create': async () => ({ action: 'decline' }) },
      }),
    });
    await using far = await open(server, world);
    const { connection } = far;
    expect(connection.serverInfo).toMatchObject({ name: 'raw', version: '1' });
    expect(JSON.stringify(connection.serverInfo).length).toBeLessThan(5_000);
    const { content } = await connection.callTool('flat', {}, { onProgress: (it) => progress.push(it) });
    expect(content).toMatchObject([{ text: expect.stringContaining('"code":-32600') }]);
    expect({ logs, progress }).toEqual({ logs: [], progress: [] });
    expect(noise).toEqual([
      'its notification is nested more than 512 levels deep and was ignored: notifications/progress',
      'its notification is nested more than 512 levels deep and was ignored: notifications/message',
    ]);
    await expect(connection.ask('prompts/get', { name: 'x' })).rejects.toMatchObject(TOO_DEEP);
    await expect(connection.ask('resources/read', { uri: 'a:b' })).rejects.toMatchObject(TOO_DEEP);
    await connection.ping(new AbortController().signal);
  });

  test('costs the other tools of a list nothing', async () => {
    await using far = await open(server);
    const { items, diagnostics } = await listTools(far.connection);
    expect(items.map(({ name }) => name)).toEqual(['flat']);
    expect(diagnostics).toMatchObject([{ entry: 'deep', fault: 'it nests deeper than 200 levels' }]);
  });

  test.each(['application/json', 'text/event-stream'])(
    'fails its own request over HTTP, as %s',
    async (type) => {
      await using web = await startWeb(({ message }, response) => {
        if (message.method !== 'tools/call' || message.params?.name !== 'deep') return false;
        const body = `{"jsonrpc":"2.0","id":${message.id},"result":{"content":[],"structuredContent":${deep}}}`;
        response.writeHead(200, { 'content-type': type });
        return response.end(type === 'application/json' ? body : `event: message\ndata: ${body}\n\n`);
      });
      await using far = await open({ type: 'http', url: web.url, era: 'legacy' });
      await expect(far.connection.callTool('deep', {})).rejects.toMatchObject(TOO_DEEP);
      expect(await far.connection.callTool('flat', { a: 1 })).toMatchObject({
        content: [{ text: '{"a":1}' }],
      });
    },
  );
});
