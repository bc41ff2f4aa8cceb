import { describe, expect, test } from 'vitest';
import { failureToModel, toModel } from '../../../src/host/result/to-model.ts';
import type { CallToolResult } from '../../../src/protocol/mcp.ts';

const source = {
  name: 'mcp__r__t',
  server: 'r',
  save: async (_data: string, mimeType: string) => `/saved/${mimeType.replace('/', '.')}`,
};
const text = (it: string) => ({ type: 'text' as const, text: it });
const png = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' };
const seen = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const seenAt = text('[Image: source: /saved/image.png]');
const blob = (uri: string, mimeType: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, blob: 'AAAAAA==' },
});

const TABLE: [string, Partial<CallToolResult>, unknown][] = [
  [
    'texts stay apart, without annotations',
    { content: [{ ...text('a'), annotations: { priority: 1 } }, text('b')] },
    [text('a'), text('b')],
  ],
  ['structure stands for text', { content: [text('{}')], structuredContent: { n: 1 } }, '{"n":1}'],
  ['structure alone', { structuredContent: { n: 1 } }, '{"n":1}'],
  [
    'structure comes after an image, text is dropped',
    { content: [text('a'), png], structuredContent: { n: 1 } },
    [seen, seenAt, text('{"n":1}')],
  ],
  ['an image is shown and saved', { content: [png] }, [seen, seenAt]],
  [
    'an svg is saved and named',
    { content: [{ ...png, mimeType: 'image/svg+xml' }] },
    [text('[Image from r] Binary content (image/svg+xml, 3 bytes) saved to /saved/image.svg+xml')],
  ],
  [
    'audio is saved and named',
    { content: [{ type: 'audio', data: 'AAAAAA==', mimeType: 'audio/wav' }] },
    [text('[Audio from r] Binary content (audio/wav, 4 bytes) saved to /saved/audio.wav')],
  ],
  [
    'a blob is saved and named',
    { content: [blob('x://z', 'application/zip')] },
    [
      text(
        '[Resource from r at x://z] Binary content (application/zip, 4 bytes) saved to /saved/application.zip',
      ),
    ],
  ],
  [
    'an embedded image is shown after its name',
    { content: [blob('x://p', 'image/png')] },
    [text('[Resource from r at x://p] '), { ...seen, source: { ...seen.source, data: 'AAAAAA==' } }, seenAt],
  ],
  [
    'an embedded text',
    { content: [{ type: 'resource', resource: { uri: 'calc://doc', text: '# Doc' } }] },
    [text('[Resource from r at calc://doc] # Doc')],
  ],
  [
    'a link with a description',
    { content: [{ type: 'resource_link', uri: 'file:///x/y.txt', name: 'y.txt', description: 'desc' }] },
    [text('[Resource link: y.txt] file:///x/y.txt (desc)')],
  ],
  [
    'a link without one',
    { content: [{ type: 'resource_link', uri: 'file:///x', name: 'x' }] },
    [text('[Resource link: x] file:///x')],
  ],
  ['no content', {}, '(mcp__r__t completed with no output)'],
  ['empty content', { content: [] }, '(mcp__r__t completed with no output)'],
  [
    'a type of the future is named',
    { content: [{ type: 'hologram' }] as unknown as CallToolResult['content'] },
    [text('[Content of unknown type "hologram" from r]')],
  ],
];

test.each(TABLE)('%s', async (_name, result, content) => {
  expect(await toModel(result, source)).toEqual({ content, isError: false });
});

describe('failures', () => {
  test('the texts of a failed result are joined', async () => {
    const result = { isError: true, content: [text('a'), text('b')] };
    expect(await toModel(result, source)).toEqual({ content: 'a\nb', isError: true });
  });

  test('a failed result that says nothing is an unknown error', async () => {
    const result = { isError: true, content: [] };
    expect(await toModel(result, source)).toEqual({ content: 'Unknown error', isError: true });
  });

  test('a failed result holds text only, also where it had an image and a structure', async () => {
    const result = { isError: true, content: [text('no'), png], structuredContent: { n: 1 } };
    const content = 'no\n[Image: source: /saved/image.png]';
    expect(await toModel(result, source)).toEqual({ content, isError: true });
  });

  test('a JSON-RPC error is its message', () => {
    const expected = { content: 'no such thing', isError: true };
    expect(failureToModel({ code: -32602, message: 'no such thing' })).toEqual(expected);
    expect(failureToModel(new Error('no such thing'))).toEqual(expected);
  });

  test('data that cannot be saved is still named', async () => {
    const full = { ...source, save: () => Promise.reject(new Error('disk full')) };
    const result = { content: [png, { type: 'audio' as const, data: '', mimeType: 'audio/wav' }] };
    const said = text('[Audio from r] Binary content (audio/wav, 0 bytes) could not be saved: disk full');
    expect(await toModel(result, full)).toEqual({ content: [seen, said], isError: false });
  });
});
