import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { failure, open } from './attempt.ts';
import { rawServer } from './raw-servers.ts';
import { testWorld } from './servers.ts';
import { startSseServer } from './sse-server.ts';

describe('a URL without a type', () => {
  test('leads to a server of the older HTTP if no other is there (R154, C27)', async () => {
    await using web = await startSseServer();
    await using far = await open({ url: web.url });
    expect(far.connection).toMatchObject({ era: 'legacy', serverInfo: { name: 'old' } });
    expect(await far.connection.callTool('any', {})).toEqual({ content: [] });
    expect(web.heard.slice(0, 3)).toEqual(['POST /', 'POST /', 'GET /']);
  });

  test('to a web page is told as the first way met with it', async () => {
    await using web = await startSseServer('page');
    expect(await failure({ url: web.url })).toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/html|web page/),
    });
  });

  test('that nobody listens on is not tried twice', async () => {
    const web = await startSseServer();
    await web[Symbol.asyncDispose]();
    expect(await failure({ url: web.url })).toMatchObject({ code: 'unreachable', hasRun: 'no' });
    expect(web.heard).toEqual([]);
  });
});

test('a kind of server that has no transport is refused by name', async () => {
  const thrown = await failure({ type: 'pigeon', url: 'http://127.0.0.1:1' } as never);
  expect(thrown).toMatchObject({ code: 'bad-config', message: expect.stringContaining('"pigeon"') });
});

describe('a server that is not ready in time is told with how far it came', () => {
  test('a process that answers nothing', async () => {
    const world = testWorld({ connectTimeoutMs: 700 });
    expect(await failure({ ...rawServer('() => {}'), era: 'legacy' }, world)).toMatchObject({
      code: 'timeout',
      hasRun: 'no',
      message: expect.stringMatching(
        /^MCP server "srv": it was not ready within 700 ms: it did not answer "initialize"; raise connectTimeoutMs if it is slow to start; it said: started/,
      ),
    });
  });

  test('an http server that takes the connection and says nothing; the entry has the last word on the time', async () => {
    const deaf = createServer();
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/`;
    const thrown = await failure({ type: 'http', url, connectTimeoutMs: 200 });
    deaf.close();
    expect(thrown).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('within 200 ms: it did not answer "initialize"'),
    });
  });
});
