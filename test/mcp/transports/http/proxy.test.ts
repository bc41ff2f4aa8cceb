import { expect, test } from 'vitest';
import { proxyFor } from '../../../../src/mcp/transports/http/proxy.ts';

const both = { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://s:2' };

test.each<[string, Record<string, string>, string | undefined]>([
  ['http://a.test/', {}, undefined],
  ['http://a.test/', both, 'http://p:1'],
  ['https://a.test/', both, 'http://s:2'],
  ['ws://a.test/', both, 'http://p:1'],
  ['wss://a.test/', both, 'http://s:2'],
  ['https://a.test/', { https_proxy: 'p:3' }, 'http://p:3'],
  ['https://a.test/', { https_proxy: 'http://low', HTTPS_PROXY: 'http://up' }, 'http://low'],
  ['https://a.test/', { ALL_PROXY: 'http://all' }, 'http://all'],
  ['https://a.test/', { HTTP_PROXY: 'http://p:1' }, undefined],
  ['https://a.test/', { HTTPS_PROXY: '' }, undefined],
  // Loopback addresses never use a proxy.
  ['http://localhost:3/', both, undefined],
  ['http://127.0.0.1/', both, undefined],
  ['http://127.9.9.9/', both, undefined],
  ['http://[::1]:3/', both, undefined],
  ['http://me.localhost/', both, undefined],
  ['http://127.example.test/', both, 'http://p:1'],
  // Exemptions.
  ['http://a.test/', { ...both, NO_PROXY: 'a.test' }, undefined],
  ['http://a.test/', { ...both, no_proxy: 'x, A.TEST.' }, undefined],
  ['http://b.a.test/', { ...both, NO_PROXY: 'a.test' }, undefined],
  ['http://b.a.test/', { ...both, NO_PROXY: '.a.test' }, undefined],
  ['http://b.a.test/', { ...both, NO_PROXY: '*.a.test' }, undefined],
  ['http://a.test/', { ...both, NO_PROXY: '*.a.test' }, 'http://p:1'],
  ['http://ba.test/', { ...both, NO_PROXY: 'a.test' }, 'http://p:1'],
  ['http://a.test/', { ...both, NO_PROXY: '*' }, undefined],
  ['http://a.test:8080/', { ...both, NO_PROXY: 'a.test:8080' }, undefined],
  ['http://a.test:8081/', { ...both, NO_PROXY: 'a.test:8080' }, 'http://p:1'],
  ['http://a.test/', { ...both, NO_PROXY: 'a.test:80' }, undefined],
  ['http://[fd00::1]/', { ...both, NO_PROXY: '[fd00::1]' }, undefined],
  ['http://[fd00::1]/', { ...both, NO_PROXY: 'fd00::1' }, undefined],
  ['http://a.test/', { ...both, NO_PROXY: ' , ' }, 'http://p:1'],
])('%s with %j goes through %s', (url, env, proxy) => {
  expect(proxyFor(new URL(url), env)).toBe(proxy);
});
