import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allowsUrl,
  deniesUrl,
  type NormalizedUrl,
  normalizeUrl,
  parseUrlPattern,
  type UrlPattern,
} from '../../../src/config/merge/url-pattern.ts';

describe('url pattern', () => {
  const pattern = (text: string) => parseUrlPattern(text) as UrlPattern;
  const url = (text: string) => normalizeUrl(text) as NormalizedUrl;
  const allows = (wanted: string, text: string) => allowsUrl(pattern(wanted), url(text));
  const denies = (wanted: string, text: string) => deniesUrl(pattern(wanted), url(text));

  test.each([
    ['https://*.Example.com/*', { scheme: 'https', host: '*.example.com', path: '/*' }],
    ['http://localhost:*/*', { scheme: 'http', host: 'localhost', port: '*', path: '/*' }],
    [
      '*://example.com.:8080/a/../b?c=*',
      { scheme: '*', host: 'example.com', port: 8080, path: '/b', query: '?c=*' },
    ],
    ['WSS://[0::1]:1/', { scheme: 'wss', host: '[::1]', port: 1, path: '/' }],
    ['https://*', { scheme: 'https', host: '*' }],
  ])('normalizes %s like a URL', (text, expected) => {
    expect(parseUrlPattern(text)).toEqual(expected);
  });

  test.each([
    '',
    '*',
    'example.com',
    'example.com/*',
    'https:/example.com/*',
    'https:///*',
    'https://./*',
    'http*://example.com/*',
    'ftp://example.com/*',
    'https://good.example.com@evil.example/*',
    'https://*@evil.example/*',
    'https://example.com/#*',
    'https://example.com\\*',
    'https://exam ple.com/*',
    ' https://example.com/*',
    'https://example.com/*\n',
    'https://example.com:port/*',
    'https://example.com:99999/*',
    'https://example.com:8*/*',
    'https://*.0.0.1/*',
  ])('refuses the pattern %j', (text) => {
    expect(parseUrlPattern(text)).toBeUndefined();
  });

  describe('allow patterns', () => {
    test.each([
      ['https://mcp.example.com/*', 'https://mcp.example.com/'],
      ['https://mcp.example.com/*', 'https://MCP.example.com.:443/a/b?c=d#e'],
      ['https://mcp.example.com/*', 'https://user:password@mcp.example.com/'],
      ['https://*.example.com/*', 'https://a.example.com/'],
      ['https://*.example.com/*', 'https://a.b.example.com/'],
      ['https://a-*.example.com/*', 'https://a-1.example.com/'],
      ['http://localhost:*/*', 'http://localhost:3000/mcp'],
      ['http://localhost:*/*', 'http://localhost/mcp'],
      ['https://a.example:8443/*', 'https://a.example:8443/'],
      ['*://a.example/*', 'ws://a.example/'],
      ['https://a.example', 'https://a.example/'],
      ['https://a.example/x/*/mcp', 'https://a.example/x/y/z/mcp'],
      ['https://a.example/%7eb', 'https://a.example/~b'],
      ['https://a.example/b%2fc', 'https://a.example/b%2Fc'],
      ['https://a.example/mcp?team=*', 'https://a.example/mcp?team=a'],
      ['https://a.example/*', 'https://a.example/b/..%2fc'],
      ['https://*/*', 'https://anything.example/b'],
    ])('%s allows %s', (wanted, text) => {
      expect(allows(wanted, text)).toBe(true);
    });

    test.each([
      // A different host that looks similar.
      ['https://mcp.example.com/*', 'https://mcp.example.com@evil.example/'],
      ['https://mcp.example.com/*', 'https://mcp.example.com:password@evil.example/'],
      ['https://mcp.example.com/*', 'https://evil.example/https://mcp.example.com/'],
      ['https://mcp.example.com/*', 'https://evil.example/?https://mcp.example.com/'],
      ['https://mcp.example.com/*', 'https://evil.example\\@mcp.example.com/'],
      ['https://mcp.example.com/*', 'https://mcp.example.com.evil.example/'],
      ['https://mcp.example.com/*', 'https://mcp.example.com%2eevil.example/'],
      ['https://mcp.example.com/*', 'https://xmcp.example.com/'],
      ['https://*.example.com/*', 'https://example.com/'],
      ['https://*.example.com/*', 'https://evilexample.com/'],
      ['https://*.example.com/*', 'https://.example.com/'],
      ['https://*.example.com/*', 'https://evil.example/.example.com/'],
      ['https://*.example.com/*', 'https://evil.example?x.example.com/'],
      ['https://*.example.com/*', 'https://evil.example#x.example.com/'],
      ['https://mcp.example.com*', 'https://mcp.example.com.evil.example/'],
      ['https://mcp.*/*', 'https://mcp.evil.example/'],
      ['http://10.0.0.*/*', 'http://10.0.0.evil.example/'],
      ['https://a.*.example.com/*', 'https://a.b.c.example.com/'],
      // A different scheme or port.
      ['https://mcp.example.com/*', 'http://mcp.example.com/'],
      ['https://mcp.example.com/*', 'wss://mcp.example.com/'],
      ['https://mcp.example.com/*', 'https://mcp.example.com:8443/'],
      ['https://mcp.example.com:8443/*', 'https://mcp.example.com/'],
      ['*://mcp.example.com/*', 'https://mcp.example.com:80/'],
      ['http://localhost:*/*', 'http://localhost.evil.example:80/'],
      // A different path or query.
      ['https://a.example', 'https://a.example/x'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/../team-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/%2e%2E/team-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/..%2fteam-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/%252e%252e%252fteam-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/%25252525252e%2e/team-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-a/..%5cteam-b/mcp'],
      ['https://a.example/team-a/*', 'https://a.example/team-b/?/team-a/'],
      ['https://a.example/team-a/*/mcp', 'https://a.example/team-a/x?/mcp'],
      ['https://a.example/mcp', 'https://a.example/mcp?as=admin'],
      ['https://a.example/mcp', 'https://a.example/MCP'],
      ['https://a.example/ab*ba', 'https://a.example/aba'],
      ['https://a.example/mcp?team=a', 'https://a.example/mcp?team=a&team=b'],
      ['https://a.example/%2A', 'https://a.example/x'],
    ])('%s does not allow %s', (wanted, text) => {
      expect(allows(wanted, text)).toBe(false);
    });
  });

  describe('deny patterns', () => {
    test.each([
      ['https://evil.example/*', 'https://EVIL.example.:443/'],
      ['https://evil.example/*', 'https://good@evil.example/'],
      ['https://evil.example/*', 'https://%65vil.example/'],
      ['https://evil.example/*', 'https://evil.example:8443/mcp'],
      ['https://evil.example', 'https://evil.example/mcp?x'],
      ['https://evil.example/mcp', 'https://evil.example/mcp?x'],
      ['https://evil.example/mcp', 'https://evil.example/MCP/'],
      ['https://evil.example/mcp/', 'https://evil.example/mcp'],
      ['https://evil.example/mcp/*', 'https://evil.example/mcp'],
      ['https://evil.example/mcp/*', 'https://evil.example//mcp/a'],
      ['https://evil.example/mcp/*', 'https://evil.example/mcp%2fa'],
      ['https://evil.example/mcp/*', 'https://evil.example/x/..%2fmcp/a'],
      ['https://evil.example/mcp/*', 'https://evil.example/%6dcp/a'],
      ['https://*.evil.example/*', 'https://a.b.evil.example/'],
      ['https://*evil.example/*', 'https://a.evil.example/'],
      ['https://evil.*/*', 'https://evil.co.example/'],
      ['*://evil.example/*', 'ws://evil.example/'],
      ['http://169.254.169.254/*', 'http://[::ffff:169.254.169.254]/latest'],
      ['http://127.0.0.1:*/*', 'http://0x7f000001:9999/'],
      ['https://*', 'https://anything.example:1/x?y'],
      // A deny pattern ignores the scheme.
      ['https://evil.example/*', 'http://evil.example/'],
      ['https://evil.example/*', 'ws://evil.example/'],
      ['https://evil.example/*', 'wss://evil.example/'],
      ['http://evil.example/*', 'https://evil.example/'],
      ['https://*/*', 'ws://anything.example/'],
      ['http://*/*', 'ws://anything.example/'],
    ])('%s denies %s', (wanted, text) => {
      expect(denies(wanted, text)).toBe(true);
    });

    test.each([
      ['https://evil.example/*', 'https://good.example/'],
      ['https://evil.example/*', 'https://evil.example.good.example/'],
      ['https://evil.example/*', 'https://evil.example@good.example/'],
      ['https://evil.example:8443/*', 'https://evil.example/'],
      // A pattern for any host with http denies only unencrypted connections.
      ['http://*/*', 'https://good.example/'],
      ['ws://*:*/*', 'wss://good.example/'],
      ['https://evil.example/mcp', 'https://evil.example/mcp2'],
      ['https://evil.example/mcp?x=*', 'https://evil.example/mcp?y=1'],
      ['https://*.evil.example/*', 'https://evil.example/'],
    ])('%s does not deny %s', (wanted, text) => {
      expect(denies(wanted, text)).toBe(false);
    });
  });

  describe('properties', () => {
    const label = fc.stringMatching(/^[ab]{1,3}$/);
    const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    const path = fc.stringMatching(/^(\/[ab.%2f]{0,3}){1,3}$/);
    const starred = (text: fc.Arbitrary<string>) =>
      fc
        .tuple(text, fc.nat(8), fc.nat(8))
        .map(([it, a, b]) => `${it.slice(0, Math.min(a, b))}*${it.slice(Math.max(a, b))}`);
    const patterns = fc
      .tuple(fc.oneof(host, starred(host)), fc.constantFrom('', ':1', ':*'), fc.oneof(path, starred(path)))
      .map(([at, port, way]) => parseUrlPattern(`https://${at}${port}${way.startsWith('/') ? way : '/*'}`))
      .filter((it) => it !== undefined);
    const urls = fc
      .tuple(host, fc.constantFrom('', ':1'), path, fc.constantFrom('', '?q'))
      .map((parts) => normalizeUrl(`https://${parts.join('')}`))
      .filter((it) => it !== undefined);

    test('a URL that a pattern allows is also denied by it', () => {
      fc.assert(
        fc.property(patterns, urls, (wanted, at) => {
          if (allowsUrl(wanted, at)) expect(deniesUrl(wanted, at)).toBe(true);
        }),
        { numRuns: 2000 },
      );
    });

    test('a URL matches itself', () => {
      fc.assert(
        fc.property(urls, ({ host: at, port, path: way, query }) => {
          const own = pattern(`https://${at}:${port}${way}${query}`);
          const self = url(`https://${at}:${port}${way}${query}`);
          expect([allowsUrl(own, self), deniesUrl(own, self)]).toEqual([true, true]);
        }),
      );
    });

    test('never throws, and takes linear time for many wildcards', () => {
      fc.assert(fc.property(fc.string(), (text) => void parseUrlPattern(text)));
      const many = pattern(`https://a.example/${'a*'.repeat(40)}b`);
      expect(deniesUrl(many, url(`https://a.example/${'a'.repeat(100_000)}`))).toBe(false);
    });
  });
});

describe('normal url', () => {
  const show = (text: string) => {
    const url = normalizeUrl(text);
    return url && `${url.scheme} ${url.host} ${url.port} ${url.path} ${url.query}`.trimEnd();
  };

  test.each([
    ['https://Example.COM', 'https example.com 443 /'],
    ['https://example.com:443/', 'https example.com 443 /'],
    ['http://example.com/', 'http example.com 80 /'],
    ['ws://example.com/', 'ws example.com 80 /'],
    ['wss://example.com:8443/', 'wss example.com 8443 /'],
    ['https://example.com./', 'https example.com 443 /'],
    ['https://example.com../', 'https example.com 443 /'],
    ['https://user:password@example.com/#part', 'https example.com 443 /'],
    ['https://%65xample.com/', 'https example.com 443 /'],
    ['https://ｅxample。com/', 'https example.com 443 /'],
    ['https:\\\\example.com\\a', 'https example.com 443 /a'],
    [' https://exam\tple.com/a\n', 'https example.com 443 /a'],
    ['https://münchen.example/', 'https xn--mnchen-3ya.example 443 /'],
    ['http://2130706433/', 'http 127.0.0.1 80 /'],
    ['http://0x7f.1/', 'http 127.0.0.1 80 /'],
    ['http://[::ffff:127.0.0.1]/', 'http 127.0.0.1 80 /'],
    ['http://[::FFFF:a9fe:a9fe]/', 'http 169.254.169.254 80 /'],
    ['http://[0:0::1]:8080/', 'http [::1] 8080 /'],
    ['https://a/b/%2e%2e/%63/./d', 'https a 443 /c/d'],
    ['https://a/%7Eb%2fc%3D', 'https a 443 /~b%2Fc%3D'],
    ['https://a/?%61=%2f', 'https a 443 / ?a=%2F'],
    ['https://a/?', 'https a 443 /'],
    ['ftp://example.com/', undefined],
    ['file:///etc/passwd', undefined],
    ['example.com', undefined],
    ['', undefined],
    ['https://', undefined],
  ])('%j', (text, expected) => {
    expect(show(text)).toBe(expected);
  });
});
