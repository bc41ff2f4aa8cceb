import { describe, expect, test } from 'vitest';
import { failure, open } from './attempt.ts';
import { startHttpServer } from './servers.ts';

describe('an http server', () => {
  test('gets the headers of its entry and answers', async () => {
    await using web = await startHttpServer('Bearer open');
    await using far = await open({ type: 'http', url: web.url, headers: { Authorization: 'Bearer open' } });
    expect(far.connection.serverInfo).toMatchObject({ name: 'web', version: '2' });
    expect(far.connection.instructions).toBe('Add with add.');
    const sum = await far.connection.callTool('add', { a: 2, b: 40 });
    expect(sum.content).toEqual([{ type: 'text', text: '42' }]);
  });

  test('that refuses the headers is told apart from one that is not there', async () => {
    await using web = await startHttpServer('Bearer open');
    const { url } = web;
    expect(await failure({ type: 'http', url })).toMatchObject({ code: 'unauthorized', server: 'srv' });
    await web[Symbol.asyncDispose]().catch(() => {});
    expect(await failure({ type: 'http', url })).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

test('a kind of server that has no transport is refused by name', async () => {
  const thrown = await failure({ type: 'ws', url: 'ws://127.0.0.1:1' });
  expect(thrown).toMatchObject({ code: 'bad-config', message: expect.stringContaining('"ws"') });
});
