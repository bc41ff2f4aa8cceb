import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { fetchConnector } from '../../../../src/config/sources/fetch-connectors.ts';
import { createAuthFetch } from '../../../../src/mcp/auth/auth-fetch.ts';
import { tlsOptions } from '../../../../src/mcp/transports/http/tls-options.ts';
import { makeCertificates } from '../../support/certificates.ts';
import { startProxy } from '../../support/proxy.ts';
import { reach, unreached } from '../../support/reach.ts';
import { testWorld } from '../../support/servers.ts';
import { startWs } from '../ws/ws-server.ts';
import { startWeb } from './support/web.ts';

let own: Awaited<ReturnType<typeof makeCertificates>>;
beforeAll(async () => {
  own = await makeCertificates();
});
afterAll(() => own[Symbol.asyncDispose]());

const good = () => false as const;

describe('a server with a certificate of our own authority', () => {
  test('is not trusted by itself', async () => {
    await using web = await startWeb(good, own.server);
    expect(await unreached({ type: 'http', url: web.url })).toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      wasSent: false,
    });
    expect(web.seen).toEqual([]);
  });

  test.each(['text', 'path'] as const)('is with the authority given as a %s', async (how) => {
    await using web = await startWeb(good, own.server);
    const tls = { ca: how === 'text' ? own.ca : own.caPath };
    await using far = await reach({ type: 'http', url: web.url, tls });
    expect((await far.call('t')).content).toEqual([{ type: 'text', text: '{}' }]);
  });

  test('is trusted with the same authority for authorization', async () => {
    await using web = await startWeb(good, own.server);
    const get = (ca?: string) => createAuthFetch({ server: new URL(web.url), env: {}, ca })(web.url);
    await expect(get()).rejects.toMatchObject({
      reason: 'network',
      message: `the connection to ${new URL(web.url).origin} failed: the issuer of its certificate is not trusted; add the certificate of the issuer under tls.ca`,
    });
    expect(web.seen).toEqual([]);
    expect((await get(own.caPath)).status).toBeGreaterThanOrEqual(200);
  });

  test('must be who its certificate says', async () => {
    await using web = await startWeb(good, own.server);
    const url = web.url.replace('127.0.0.1', 'localhost');
    const failure = await unreached({ type: 'http', url, tls: { ca: own.ca } });
    expect(failure).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID', wasSent: false });
    await using far = await reach({ type: 'http', url, tls: { ca: own.ca, serverName: 'mcp.test' } });
    await far.call('t');
  });

  test('may ask for ours', async () => {
    const options = { ...own.server, ca: own.ca, requestCert: true, rejectUnauthorized: true };
    await using web = await startWeb(good, options);
    const tls = { ca: own.ca };
    expect(await unreached({ type: 'http', url: web.url, tls })).toMatchObject({ name: 'HttpError' });
    await using far = await reach({ type: 'http', url: web.url, tls: { ...tls, ...own.client } });
    await far.call('t');
  });
});

test.each([
  [{ ca: '/nowhere/ca.pem' }, /"tls.ca" cannot be read: ENOENT/],
  [{ ca: 'package.json' }, /"tls.ca" is neither PEM text nor the path of a PEM file/],
  [{ cert: '-----BEGIN CERTIFICATE-----' }, /"tls.cert" and "tls.key" must be set together/],
])('%j is refused by name', async (tls, message) => {
  await expect(tlsOptions('srv', tls)).rejects.toThrow(message);
});

describe('through a proxy of the environment', () => {
  test('a secure server is reached by a tunnel, trusted as ever', async () => {
    await using web = await startWeb(good, own.server);
    const word = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    await using proxy = await startProxy(word);
    const env = { HTTPS_PROXY: `http://me:p%40ss@${proxy.host}` };
    const entry = { type: 'http' as const, url: `https://mcp.test:${web.port}/mcp`, tls: { ca: own.ca } };
    await using far = await reach(entry, testWorld({ env }));
    await far.call('t');
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT mcp.test:${web.port}`]));
    const { tls: _, ...untrusting } = entry;
    expect(await unreached(untrusting, testWorld({ env }))).toMatchObject({
      name: 'HttpError',
      wasSent: false,
    });
  });

  test('a plain one is asked for by its full URL', async () => {
    await using web = await startWeb();
    await using proxy = await startProxy();
    const env = { http_proxy: proxy.host };
    const url = `http://mcp.test:${web.port}/mcp`;
    await using far = await reach({ type: 'http', url, headers: { 'x-key': 'k' } }, testWorld({ env }));
    await far.call('t');
    expect(new Set(proxy.seen)).toContain(`POST ${url}`);
    expect(web.calls()[0]?.headers['x-key']).toBe('k');
  });

  test('one that refuses us is named', async () => {
    await using proxy = await startProxy('Basic other');
    const env = { https_proxy: `http://${proxy.host}` };
    expect(await unreached({ type: 'http', url: 'https://mcp.test/' }, testWorld({ env }))).toMatchObject({
      name: 'HttpError',
      code: 'proxy',
      wasSent: false,
      message: expect.stringContaining('407'),
    });
  });

  test.each(['http', 'https'])('one that is away is named (%s)', async (scheme) => {
    const world = testWorld({ env: { ALL_PROXY: '127.0.0.1:1' } });
    expect(await unreached({ type: 'http', url: `${scheme}://mcp.test/` }, world)).toMatchObject({
      code: 'proxy',
      wasSent: false,
      message: expect.stringContaining('the proxy 127.0.0.1:1 from the environment cannot be used'),
    });
  });

  test('one we cannot use is refused by name, without its password', async () => {
    const env = { ALL_PROXY: 'ftp://me:secret@h' };
    const failure = await unreached({ type: 'http', url: 'https://mcp.test/' }, testWorld({ env }));
    expect(failure).toMatchObject({ name: 'HostError', code: 'bad-config' });
    expect(String(failure)).toContain('ftp://me:[redacted]@h');
  });

  test('this machine is not reached', async () => {
    await using web = await startWeb();
    await using proxy = await startProxy();
    const env = { HTTP_PROXY: `http://${proxy.host}`, ALL_PROXY: `http://${proxy.host}` };
    await using far = await reach({ type: 'http', url: web.url }, testWorld({ env }));
    await far.call('t');
    expect(proxy.seen).toEqual([]);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0 does not switch off verification', () => {
  const switchOff = () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
  };
  const UNVERIFIED = { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' };

  test.each(['http', 'sse'] as const)('of an %s server', async (type) => {
    switchOff();
    await using web = await startWeb(good, own.server);
    expect(await unreached({ type, url: web.url })).toMatchObject(UNVERIFIED);
    expect(web.seen).toEqual([]);
  });

  test('of a server whose entry sets other members of tls', async () => {
    switchOff();
    await using web = await startWeb(good, own.server);
    const tls = { serverName: 'mcp.test' };
    expect(await unreached({ type: 'http', url: web.url, tls })).toMatchObject(UNVERIFIED);
  });

  test('of a server behind a proxy', async () => {
    switchOff();
    await using web = await startWeb(good, own.server);
    await using proxy = await startProxy();
    const world = testWorld({ env: { HTTPS_PROXY: `http://${proxy.host}` } });
    const failure = await unreached({ type: 'http', url: `https://mcp.test:${web.port}/mcp` }, world);
    expect(failure).toMatchObject({ name: 'HttpError', wasSent: false });
    expect(web.seen).toEqual([]);
  });

  test('of a WebSocket server, directly and behind a proxy', async () => {
    switchOff();
    await using web = await startWs({ tls: own.server });
    await using proxy = await startProxy();
    const world = testWorld({ env: { HTTPS_PROXY: `http://${proxy.host}` } });
    expect(await unreached({ type: 'ws', url: web.url })).toMatchObject(UNVERIFIED);
    const behind = await unreached({ type: 'ws', url: `wss://mcp.test:${web.port}/` }, world);
    expect(behind).toMatchObject(UNVERIFIED);
  });

  test.each(['http', 'ws'] as const)('of a proxy that is reached by TLS (%s)', async (type) => {
    switchOff();
    await using proxy = await startWeb(good, own.server);
    const world = testWorld({ env: { ALL_PROXY: `https://127.0.0.1:${proxy.port}` } });
    const url = type === 'ws' ? 'wss://mcp.test/' : 'https://mcp.test/';
    expect(await unreached({ type, url }, world)).toMatchObject(UNVERIFIED);
    expect(proxy.seen).toEqual([]);
  });

  test('of a connector', async () => {
    switchOff();
    await using web = await startWeb(good, own.server);
    const asked = { url: web.url, headers: {}, env: {}, signal: AbortSignal.timeout(5_000) };
    expect(await fetchConnector(asked)).toMatchObject({ kind: 'failed' });
    expect(web.seen).toEqual([]);
  });

  test('while a tls.ca of the entry is still trusted', async () => {
    switchOff();
    await using web = await startWeb(good, own.server);
    await using far = await reach({ type: 'http', url: web.url, tls: { ca: own.ca } });
    await far.call('t');
  });
});
