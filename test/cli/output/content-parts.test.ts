import { describe, expect, test } from 'vitest';
import { partsOf, partsText, resultParts } from '../../../src/cli/output/content-parts.ts';

describe('content parts', () => {
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
      '[image image/png, invalid base64]\n',
    ],
    ['a plain string', ['hello', { type: 'text', text: 'b' }], 'hello\nb\n'],
    [
      'a resource that is text and data',
      [{ type: 'resource', resource: { uri: 'a://b', text: 'T', blob: DATA } }],
      '[resource a://b text, 1 byte]\nT\n[resource a://b application/octet-stream, 5 bytes]\n',
    ],
    [
      'an unknown kind',
      [{ type: 'hologram\n', data: DATA }],
      `[hologram, unknown type]\n{"type":"hologram\\n","data":"${DATA}"}\n`,
    ],
    [
      'what is no block',
      [null, 5, [1], {}],
      ['null', '5', '[1]', '{}'].map((it) => `[content, unknown type]\n${it}\n`).join(''),
    ],
    [
      'blocks that lack what they are about',
      [
        { type: 'text', text: 5 },
        { type: 'image' },
        { type: 'resource' },
        { type: 'resource_link', name: 'n' },
      ],
      [
        '[text, unknown type]\n{"type":"text","text":5}\n',
        '[image, unknown type]\n{"type":"image"}\n',
        '[resource, unknown type]\n{"type":"resource"}\n',
        '[resource_link, unknown type]\n{"type":"resource_link","name":"n"}\n',
      ].join(''),
    ],
    [
      'a resource without text and data',
      [{ type: 'resource', resource: { uri: 'a://b', value: 1 } }],
      '[resource a://b, unknown type]\n{"uri":"a://b","value":1}\n',
    ],
    [
      'lines of a server cannot leave their line',
      [{ type: 'image', data: DATA, mimeType: 'image/png\n\u001b[2J' }],
      '[image image/png ␛[2J, 5 bytes]\n',
    ],
  ])('%s', (_, content, text) => {
    expect(partsText(partsOf(content))).toBe(text);
  });
});

describe('result text', () => {
  const text = (it: string) => ({ type: 'text' as const, text: it });

  test.each([
    ['text', { content: [text('a')], structuredContent: { b: 1 } }, 'a\n'],
    ['no text', { content: [], structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
    ['a text that says nothing', { content: [text(' ')], structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
    ['no content at all', { structuredContent: { b: 1 } }, '{\n  "b": 1\n}\n'],
    ['nothing', { content: [] }, ''],
  ])('shows structured content only without text: %s', (_, result, shown) => {
    expect(partsText(resultParts(result as never))).toBe(shown);
  });

  test.each<[string, unknown, string]>([
    ['no content', { foo: 'bar', toolResult: 42 }, '{"foo":"bar","toolResult":42}'],
    ['content that is a text', { content: 'hello' }, 'hello'],
    ['one block without its list', { content: text('hello') }, 'hello'],
    ['no object', 42, '42'],
    [
      'content of no known form beside a structured form',
      { content: [{ type: 'x', y: 1 }], structuredContent: { b: 1 } },
      '{"type":"x","y":1}\n{\n  "b": 1\n}',
    ],
  ])('shows all content of a result with %s', (_, result, shown) => {
    expect(partsText(resultParts(result as never))).toContain(`${shown}\n`);
  });
});
