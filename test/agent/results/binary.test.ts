import { expect, test } from 'vitest';
import { decodeBase64 } from '../../../src/agent/results/binary.ts';

test.each<[string, string, number[] | undefined, string?]>([
  ['as it should be', '+/+/AA==', [0xfb, 0xff, 0xbf, 0]],
  ['without padding', '+/+/AA', [0xfb, 0xff, 0xbf, 0]],
  ['in lines', '+/+/\r\n AA==\n', [0xfb, 0xff, 0xbf, 0]],
  ['in the alphabet of URLs', '-_-_AA', [0xfb, 0xff, 0xbf, 0]],
  ['as a data URL', 'data:image/png;base64,AAAA', [0, 0, 0], 'image/png'],
  ['as a data URL with a parameter', 'data:text/plain;charset=x;base64,AAAA', [0, 0, 0], 'text/plain'],
  ['as a data URL in capitals', 'DATA:;BASE64,AAAA', [0, 0, 0]],
  ['empty', '', []],
  ['a data URL that is not in base64', 'data:text/plain,AAAA', undefined],
  ['a data URL that never gets to its data', `data:${';'.repeat(4_000_000)},AAAA`, undefined],
  ['a data URL with an endless parameter', `data:a/b;${'x'.repeat(200)};base64,AAAA`, undefined],
  ['another sign', 'AA*A', undefined],
  ['a digit too few', 'AAAAA', undefined],
  ['padding inside', 'AA==AAAA', undefined],
])('%s', (_, text, bytes, mimeType) => {
  const expected = bytes && { bytes: Buffer.from(bytes), ...(mimeType && { mimeType }) };
  expect(decodeBase64(text)).toEqual(expected);
});
