import { describe, expect, test } from 'vitest';
import { lastingFetch } from '../../../../src/mcp/transports/http/lasting-fetch.ts';
import { reach } from '../../connection/reach.ts';
import { openEvents, startWeb, type Twist } from './web.ts';

/** A stream beside the requests of a server that answers the tries in turn; the last answer is for all that follow. */
async function startBeside(...answers: Twist[]) {
  let tries = 0;
  const web = await startWeb((seen, response) => {
    if (seen.method !== 'GET') return false;
    return answers[Math.min(tries++, answers.length - 1)]?.(seen, response);
  });
  const troubles: unknown[] = [];
  const beside = lastingFetch(fetch, (fault) => troubles.push(fault), { firstMs: 1, longestMs: 5 });
  const life = new AbortController();
  return {
    web,
    troubles,
    get: () => beside(web.url, { method: 'GET', signal: life.signal }),
    ids: () => web.seen.map(({ headers }) => headers['last-event-id']),
    async [Symbol.asyncDispose]() {
      life.abort();
      await web[Symbol.asyncDispose]();
    },
  };
}

const refuse =
  (status: number): Twist =>
  (_, response) =>
    response.writeHead(status).end();
const cut: Twist = (_, response) => response.destroy();
const stay: Twist = (_, response) => openEvents(response)({ said: 'stay' });
const end =
  (event: string): Twist =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event);

/** Reads until that was said. */
async function hear({ body }: Response, said: string) {
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes(said)) return text;
  }
  throw new Error(`it ended after ${text}`);
}

describe('a first try that fails', () => {
  test.each([
    ['by a 500', refuse(500)],
    ['by a 429', refuse(429)],
    ['by a cut', cut],
  ])('%s is a stream that is yet to open', async (_, failing) => {
    await using beside = await startBeside(failing, failing, failing, stay);
    const response = await beside.get();
    expect(response.status).toBe(200);
    expect(await hear(response, 'stay')).toContain('notifications/list_changed');
    expect(beside.web.seen).toHaveLength(4);
    expect(beside.troubles).toHaveLength(3);
  });

  test.each([405, 404, 501, 401, 403])('by a %i is told as it is, and not tried again', async (status) => {
    await using beside = await startBeside(refuse(status));
    expect((await beside.get()).status).toBe(status);
    expect({ tries: beside.web.seen.length, troubles: beside.troubles }).toEqual({ tries: 1, troubles: [] });
  });

  test('ends as no stream when the server then says that it has none', async () => {
    await using beside = await startBeside(refuse(503), refuse(405));
    const { body } = await beside.get();
    expect(await body?.getReader().read()).toEqual({ done: true, value: undefined });
  });

  test('because we left is no stream', async () => {
    await using beside = await startBeside(stay);
    const left = lastingFetch(fetch, (fault) => beside.troubles.push(fault));
    const leaving = left(beside.web.url, { method: 'GET', signal: AbortSignal.abort() });
    await expect(leaving).rejects.toMatchObject({ name: 'AbortError' });
    expect(beside.troubles).toEqual([]);
  });

  test('that goes on with the answer to a request is left to the transport', async () => {
    await using beside = await startBeside(refuse(500));
    const one = lastingFetch(fetch, (fault) => beside.troubles.push(fault));
    const { status } = await one(beside.web.url, { method: 'GET', headers: { 'last-event-id': '7' } });
    expect({ status, troubles: beside.troubles }).toEqual({ status: 500, troubles: [] });
  });

  test('does not fail the connection, which hears the server later', async () => {
    await using beside = await startBeside(refuse(500), stay);
    await using far = await reach({ type: 'http', url: beside.web.url });
    await new Promise<void>((resolve) => {
      far.client.fallbackNotificationHandler = async ({ method }) => {
        if (method === 'notifications/list_changed') resolve();
      };
    });
    expect(beside.web.seen.filter(({ method }) => method === 'GET')).toHaveLength(2);
  });
});

describe('the id of the last event', () => {
  test.each([400, 404])('is forgotten when the server answers %i', async (status) => {
    await using beside = await startBeside(end('id: 7\ndata: a\n\n'), refuse(status), stay);
    await hear(await beside.get(), 'stay');
    expect(beside.ids()).toEqual([undefined, '7', undefined]);
  });

  test('is kept while the server is not ready', async () => {
    await using beside = await startBeside(end('id: 7\ndata: a\n\n'), refuse(503), stay);
    await hear(await beside.get(), 'stay');
    expect(beside.ids()).toEqual([undefined, '7', '7']);
  });

  test('is not sent when no header can hold it', async () => {
    await using beside = await startBeside(end('id: 7\ndata: a\n\nid: 事件\ndata: b\n\n'), stay);
    await hear(await beside.get(), 'stay');
    expect(beside.ids()).toEqual([undefined, undefined]);
    expect(beside.troubles).toEqual([]);
  });
});
