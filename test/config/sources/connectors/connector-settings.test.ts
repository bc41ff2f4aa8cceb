import { expect, test } from 'vitest';
import { documentOf } from '../../../../src/config/files/read-document.ts';
import { connectorSettings } from '../../../../src/config/sources/connectors/connector-settings.ts';

function read(text: string) {
  const document = documentOf('', text);
  if (document.state !== 'read') throw new Error('the text is no JSON');
  const { value, locate } = document;
  return connectorSettings({ scope: 'user', label: 'settings', value, locate });
}

test('a catalogue is named by its address, with headers or without', () => {
  const list = [
    { url: 'https://h.example/servers?key=s3cret', headers: { Authorization: 'Bearer ${TOKEN}' } },
    { url: 'http://127.0.0.1:80/x' },
    { url: 'http://localhost/x' },
    { url: 'http://[::1]/x' },
  ];
  expect(read(JSON.stringify({ connectors: list }))).toEqual({
    connectors: [
      { ...list[0], label: 'https://h.example/servers' },
      { ...list[1], label: 'http://127.0.0.1/x' },
      { ...list[2], label: 'http://localhost/x' },
      { ...list[3], label: 'http://[::1]/x' },
    ],
    faults: [],
  });
  expect(read('{}')).toEqual({ connectors: [], faults: [] });
});

test.each<[unknown, string, string]>([
  ['https://h', 'connectors[0]', 'it must be an object'],
  [{}, 'connectors[0].url', 'a full URL'],
  [{ url: 'h.example' }, 'connectors[0].url', 'a full URL'],
  [{ url: 'http://h.example/s3cret' }, 'connectors[0].url', 'it must start with https://'],
  [{ url: 'http://127.0.0.1.evil.example' }, 'connectors[0].url', 'it must start with https://'],
  [{ url: 'file:///etc/s3cret' }, 'connectors[0].url', 'it must start with https://'],
  [{ url: 'https://me:s3cret@h.example' }, 'connectors[0].url', 'credentials stand in "headers"'],
  [{ url: 'https://h.example/${TOKEN}' }, 'connectors[0].url', 'variables are put into "headers" only'],
  [{ url: 'https://h', headers: ['s3cret'] }, 'connectors[0].headers', 'it must map names to strings'],
  [{ url: 'https://h', headers: { a: 1 } }, 'connectors[0].headers', 'it must map names to strings'],
])('%j is told without what may be secret, the others count', (one, key, message) => {
  const { connectors, faults } = read(JSON.stringify({ connectors: [one, { url: 'https://good' }] }));
  expect(connectors.map(({ url }) => url)).toEqual(['https://good']);
  expect(faults).toEqual([
    expect.objectContaining({ level: 'error', scope: 'user', label: 'settings', key }),
  ]);
  expect(faults[0]?.message).toContain(message);
  expect(faults[0]?.position).toBeDefined();
  expect(JSON.stringify(faults)).not.toContain('s3cret');
});

test('what is no list is told', () => {
  expect(read('{"connectors":"https://h"}').faults).toMatchObject([{ key: 'connectors' }]);
});
