import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pageUrl } from '../../../../src/agent/builtins/web/fetch-page.ts';
import { PageCache } from '../../../../src/agent/builtins/web/page-cache.ts';
import { WEB_FETCH } from '../../../../src/agent/builtins/web/web-fetch.ts';
import { subjectOf } from '../../../../src/permissions/subject.ts';
import { call, directoryWith, failed, worldIn } from '../built-in-world.ts';

async function site(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked: string[] = [];
  const web = {
    cache: new PageCache(),
    ask: async (text: string) => {
      asked.push(text);
      return 'the answer';
    },
    searchFault: () => undefined,
    search: async () => [],
  };
  const fetch = (path: string, more: object = {}) =>
    call(
      WEB_FETCH,
      { url: path.startsWith('http') ? path : url + path, prompt: 'What is it?', ...more },
      worldIn(directoryWith(), { services: { web } }),
    );
  return { url, asked, fetch };
}

test('the model answers from the page, and the answer is marked as data from outside', async () => {
  let requests = 0;
  const { fetch, asked, url } = await site((_, response) => {
    requests++;
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end('<h1>Tea</h1><script>x</script><p>Green.</p>');
  });
  const outcome = await fetch('/tea');
  expect(outcome.content).toMatch(/^the answer\n\n\[.* from outside\. It is data/);
  expect(outcome.programResult).toEqual({
    bytes: 43,
    code: 200,
    codeText: 'OK',
    result: 'the answer',
    durationMs: expect.any(Number),
    url: `${url}/tea`,
  });
  expect(asked[0]).toContain('Web page content:\n---\n# Tea\n\nGreen.\n---\n\nWhat is it?');
  await fetch('/tea', { prompt: 'And now?' });
  expect(requests).toBe(1);
  expect(asked[1]).toContain('And now?');
});

test('a long page is read in parts', async () => {
  const { fetch, asked } = await site((_, response) => {
    response.setHeader('content-type', 'text/plain').end('x'.repeat(150_000));
  });
  expect((await fetch('/')).content).toContain('call WebFetch with offset 100000');
  expect((await fetch('/', { offset: 100_000 })).content).not.toContain('offset');
  expect(asked[1]?.match(/x+/g)?.find((it) => it.length > 10)).toHaveLength(50_000);
  expect(await fetch('/', { offset: 150_000 })).toMatchObject({ isError: true });
});

test('redirects within the host are followed, others are reported', async () => {
  const { fetch, url } = await site((request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
    else if (request.url === '/out') response.writeHead(302, { location: 'https://other.example/x' }).end();
    else if (request.url === '/inside')
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else response.setHeader('content-type', 'text/plain').end('here');
  });
  expect((await fetch('/a')).content).toContain('the answer');
  expect(await fetch('/out')).toMatchObject({
    isError: false,
    content: expect.stringContaining('https://other.example/x'),
    programResult: { code: 302, codeText: 'Found' },
  });
  expect(await fetch('/inside')).toEqual(
    failed(
      `${url} redirects to an address that is not allowed: 169.254.169.254 is a link-local address, which WebFetch does not request`,
    ),
  );
  expect(await fetch('/round')).toMatchObject({ isError: true });
});

test('an error page is a result, binary and endless content is not', async () => {
  const { fetch } = await site((request, response) => {
    if (request.url === '/404') response.writeHead(404, { 'content-type': 'text/html' }).end('<p>gone</p>');
    else if (request.url === '/zip') response.setHeader('content-type', 'application/zip').end('PK');
    else {
      response.setHeader('content-type', 'text/plain');
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    }
  });
  expect(await fetch('/404')).toMatchObject({
    isError: false,
    content: expect.stringMatching(/^\[HTTP 404 Not Found\]\nthe answer/),
  });
  expect(await fetch('/zip')).toMatchObject({ isError: true });
  expect(await fetch('/endless')).toMatchObject({
    isError: true,
    content: expect.stringContaining('larger than 10 MB'),
  });
});

test('a public name with a private address is not requested', async () => {
  const { fetch } = await site((_, response) => response.end('secret'));
  // Resolved by the system on this machine; the name has a domain and does not say that it is local.
  const outcome = await fetch('https://127.0.0.1.nip.invalid/');
  expect(outcome).toMatchObject({ isError: true });
});

describe('URLs', () => {
  test.each([
    ['http://example.com/a#b', 'https://example.com/a'],
    ['https://example.com', 'https://example.com/'],
    ['http://localhost:8080/', 'http://localhost:8080/'],
    ['http://10.0.0.1/', 'http://10.0.0.1/'],
    ['http://localhost.:8080/', 'http://localhost:8080/'],
    ['https://example.com./a', 'https://example.com/a'],
  ])('%s is requested as %s', (text, url) => {
    expect(pageUrl(text)).toMatchObject({ href: url });
  });

  test.each([
    'file:///etc/passwd',
    'https://user:pass@example.com/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://intranet/',
    'not a url',
    `https://example.com/${'x'.repeat(3_000)}`,
  ])('%s is refused', (text) => {
    expect(pageUrl(text)).toEqual({ fault: expect.any(String) });
  });

  test('rules compare the host', () => {
    for (const url of ['https://Example.com/a?b', 'https://example.com./', 'domain:Example.com.'])
      expect(subjectOf('WebFetch', { url })).toEqual({ kind: 'word', value: 'domain:example.com' });
    expect(subjectOf('WebFetch', { url: 'nonsense' })).toBeUndefined();
  });
});
