import { expect, test } from 'vitest';
import { normalUrl } from '../../../src/config/merge/normal-url.ts';

const show = (text: string) => {
  const url = normalUrl(text);
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
