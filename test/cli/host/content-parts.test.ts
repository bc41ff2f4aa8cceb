import { expect, test } from 'vitest';
import { partsOf, partsText } from '../../../src/cli/host/content-parts.ts';

const DATA = Buffer.from('12345').toString('base64');

test.each([
  ['nothing', [], ''],
  [
    'text',
    [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two\n' },
    ],
    'one\ntwo\n',
  ],
  ['an image', [{ type: 'image', data: DATA, mimeType: 'image/png' }], '[image image/png, 5 bytes]\n'],
  ['audio', [{ type: 'audio', data: DATA, mimeType: 'audio/wav' }], '[audio audio/wav, 5 bytes]\n'],
  [
    'a text resource',
    [{ type: 'resource', resource: { uri: 'a://b', text: 'hé' } }],
    '[resource a://b text, 3 bytes]\nhé\n',
  ],
  [
    'a binary resource',
    [{ type: 'resource', resource: { uri: 'a://b', blob: DATA } }],
    '[resource a://b application/octet-stream, 5 bytes]\n',
  ],
  [
    'a link',
    [{ type: 'resource_link', uri: 'a://b', name: 'B', mimeType: 'text/plain' }],
    '[link a://b B text/plain]\n',
  ],
  [
    'data that is none',
    [{ type: 'image', data: '§', mimeType: 'image/png' }],
    '[image image/png, which is no base64]\n',
  ],
  ['a kind nobody knows', [{ type: 'hologram', data: DATA }], '[hologram]\n'],
  ['what is no block', [null, 5, { type: 'resource' }, {}], '[]\n'],
  [
    'lines of a server cannot leave their line',
    [{ type: 'image', data: DATA, mimeType: 'image/png\n\u001b[2J' }],
    '[image image/png ␛[2J, 5 bytes]\n',
  ],
])('%s', (_, content, text) => {
  expect(partsText(partsOf(content))).toBe(text);
});
