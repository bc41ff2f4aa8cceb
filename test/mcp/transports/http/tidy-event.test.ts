import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tidyEvent } from '../../../../src/mcp/transports/http/tidy-event.ts';

const tidied = (event: string) => Buffer.from(tidyEvent(Buffer.from(event))).toString();
const right = '{"jsonrpc":"2.0","id":1,"result":{}}';

test.each([
  `data: ${right}\n\n`,
  `event: message\r\nid: 7\r\ndata:${right}\r\n\r\n`,
  'event: endpoint\ndata: /message\n\n',
  'event: other\ndata: {"id":1,"result":{}}\n\n',
  'id: 1\ndata: \n\n',
  ': a comment\n\n',
  'data: no json\n\n',
  'data: {"ok":true}\n\n',
  'data: []\n\n',
])('%j stays what it is', (event) => {
  const bytes = Buffer.from(event);
  expect(tidyEvent(bytes)).toBe(bytes);
});

test.each([
  ['data: {"jsonrpc":"2.0","id":1,"result":{},"error":null}\n\n', `data: ${right}\n\n`],
  [
    'id: 7\r\ndata: {"id":1,\r\ndata: "result":{}}\r\n\r\n',
    'id: 7\ndata: {"id":1,"result":{},"jsonrpc":"2.0"}\n\n',
  ],
  [`data: [${right},7,${right}]\n\n`, `data: ${right}\n\ndata: ${right}\n\n`],
])('%j is put right', (event, wanted) => {
  expect(tidied(event)).toBe(wanted);
});

test('an answer that cannot be written anew fails its request', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const answer = tidied(`data: {"jsonrpc":"2.0","id":1,"result":{"a":${deep}},"more":1}\n\n`);
  expect(JSON.parse(answer.slice('data: '.length))).toMatchObject({ id: 1, error: { code: -32603 } });
});

test('whatever comes, it does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), (bytes, text) => void [tidyEvent(bytes), tidied(text)]),
  );
});
