import { describe, expect, onTestFinished, test } from 'vitest';
import { createHost, type HostAnswer } from '../../../src/entry/host.ts';
import { UrlVisits } from '../../../src/mcp/calls/url-visits.ts';
import type { Connection } from '../../../src/mcp/connection/connection.ts';
import { Notifications } from '../../../src/mcp/connection/notifications.ts';
import { ServerFault } from '../../../src/mcp/errors/host-error.ts';
import { PROCESSES } from '../contract/support/third-party-servers.ts';

const required = (...urls: string[]) =>
  new ServerFault('s', -32042, 'first visit a page', {
    elicitations: urls.map((url) => ({
      mode: 'url',
      url,
      message: `visit ${url}`,
      elicitationId: `id of ${url}`,
    })),
  });

/** A server that rejects requests with these errors, one after the other, and then answers. */
function scene(refusals: unknown[], action = 'accept') {
  const asked: unknown[] = [];
  let requests = 0;
  const notices = new Notifications(undefined);
  const connection = {
    onNotification: notices.all.on,
    elicit: async (params: Readonly<Record<string, unknown>>) => {
      asked.push(params.url);
      queueMicrotask(() => complete(params.elicitationId));
      return { action };
    },
  } as unknown as Connection;
  const complete = (elicitationId: unknown) =>
    notices.receive({ method: 'notifications/elicitation/complete', params: { elicitationId } });
  const call = async () => {
    const visits = new UrlVisits();
    for (;;) {
      requests++;
      const refusal = refusals.shift();
      if (!refusal) return { content: [] };
      // The server meanwhile reports that the visits of all URLs are completed.
      setImmediate(() => ['https://a.example', 'https://b.example'].map((url) => complete(`id of ${url}`)));
      if (!(await visits.after(refusal, connection))) throw refusal;
    }
  };
  return { call, asked, requests: () => requests };
}

describe('a request that requires a visit of a URL', () => {
  test('is sent again after the user agreed and the server reports the end', async () => {
    const { call, asked, requests } = scene([required('https://a.example', 'https://b.example')]);
    expect(await call()).toEqual({ content: [] });
    expect(asked).toEqual(['https://a.example', 'https://b.example']);
    expect(requests()).toBe(2);
  });

  test('asks again only for another URL', async () => {
    const { call, asked, requests } = scene([
      required('https://a.example'),
      required('https://a.example'),
      required('https://b.example'),
    ]);
    await call();
    expect(asked).toEqual(['https://a.example', 'https://b.example']);
    expect(requests()).toBe(4);
  });

  test.each(['decline', 'cancel'])('fails with the error of the server after %s', async (action) => {
    const { call, requests } = scene([required('https://a.example')], action);
    await expect(call()).rejects.toMatchObject({ code: -32042 });
    expect(requests()).toBe(1);
  });

  test.each([
    ['another error', new ServerFault('s', -32000, 'no')],
    ['no URLs', new ServerFault('s', -32042, 'no', {})],
  ])('%s is not a reason to ask', async (_, fault) => {
    const { call, asked } = scene([fault]);
    await expect(call()).rejects.toBe(fault);
    expect(asked).toEqual([]);
  });
});

test('@modelcontextprotocol/server-everything: both ways to ask for a visit', async () => {
  const asked: unknown[] = [];
  const elicitation: HostAnswer = async ({ mode, url }) => {
    asked.push([mode, url]);
    return { action: 'accept' };
  };
  const host = createHost({
    mcpServers: { all: PROCESSES.everything },
    handlers: { elicitation },
    cacheDirectory: false,
  });
  onTestFinished(() => host.close());
  await host.ready({ servers: ['all'] });
  const url = 'https://example.com/form';
  const result = await host.callTool('all', 'trigger-url-elicitation', { url, errorPath: true });
  expect(JSON.stringify(result.content)).toContain('User completed the URL elicitation flow');
  expect(asked).toEqual([
    ['url', 'https://modelcontextprotocol.io'],
    ['url', url],
  ]);
});
