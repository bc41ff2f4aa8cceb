import { describe, expect, test } from 'vitest';
import {
  contentsToModel,
  failureToModel,
  repetitionOf,
  toModel,
} from '../../../src/agent/results/to-model.ts';
import { FULL, memoryStore, PNG, sourceWith } from './sources.ts';

describe('to model', () => {
  const text = (it: string) => ({ type: 'text' as const, text: it });
  const data = PNG.toString('base64');
  const png = { type: 'image' as const, data, mimeType: 'image/png' };
  const seen = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const seenAt = text('[Image: source: /saved/1.png]');
  const blob = (uri: string, mimeType: string, it = 'AAAAAA==') => ({
    type: 'resource' as const,
    resource: { uri, mimeType, blob: it },
  });

  const TABLE: [string, unknown, unknown][] = [
    [
      'texts stay apart, whomever they are for, without annotations',
      { content: [{ ...text('a'), annotations: { audience: ['user'] } }, text('b')] },
      [text('a'), text('b')],
    ],
    ['a text that is blank says nothing', { content: [text(' \n'), text('b'), text('')] }, [text('b')]],
    ['halves of characters are mended', { content: [text('a\uD800')] }, [text('a\uFFFD')]],
    ['structure alone', { structuredContent: { n: 1 } }, '{"n":1}'],
    ['structure null is none', { content: [text('a')], structuredContent: null }, [text('a')]],
    [
      'structure stands for a text that repeats it',
      { content: [text('{\n "b": [1],\n "a": "x"\n}')], structuredContent: { a: 'x', b: [1] } },
      '{"a":"x","b":[1]}',
    ],
    [
      'a text that says something else stays before the structure',
      { content: [text('Two were left out.')], structuredContent: { n: 1 } },
      [text('Two were left out.'), text('{"n":1}')],
    ],
    [
      'structure comes after an image, and its text is dropped',
      { content: [text('{"n":1}'), png], structuredContent: { n: 1 } },
      [seen, seenAt, text('{"n":1}')],
    ],
    ['an image is shown and saved', { content: [png] }, [seen, seenAt]],
    ['the same image twice is one file', { content: [png, png] }, [seen, seenAt, seen, seenAt]],
    ['an image without a type', { content: [{ type: 'image', data }] }, [seen, seenAt]],
    ['a png that is called a jpeg', { content: [{ ...png, mimeType: 'image/jpeg' }] }, [seen, seenAt]],
    ['a data URL', { content: [{ type: 'image', data: `data:image/png;base64,${data}` }] }, [seen, seenAt]],
    [
      'what is called a png and is none',
      { content: [{ ...png, data: 'AAAA' }] },
      [
        text(
          '[Image from r] Binary content (image/png, 3 bytes) saved to /saved/1.png. Not shown because the data is not image/png',
        ),
      ],
    ],
    [
      'a png without its end is saved and named',
      { content: [{ ...png, data: PNG.subarray(0, 40).toString('base64') }] },
      [
        text(
          '[Image from r] Binary content (image/png, 40 bytes) saved to /saved/1.png. Not shown because the image is truncated',
        ),
      ],
    ],
    [
      'an svg is saved and named',
      { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' }] },
      [text('[Image from r] Binary content (image/svg+xml, 3 bytes) saved to /saved/1.svg')],
    ],
    [
      'audio is saved and named',
      { content: [{ type: 'audio', data: 'AAAAAA==', mimeType: 'audio/wav' }] },
      [text('[Audio from r] Binary content (audio/wav, 4 bytes) saved to /saved/1.wav')],
    ],
    [
      'data that is empty',
      { content: [{ type: 'audio', data: '' }] },
      [text('[Audio from r] Binary content (application/octet-stream, 0 bytes): empty')],
    ],
    [
      'invalid base64',
      { content: [{ ...png, data: 'no!' }] },
      [text('[Image from r] Invalid base64 data (image/png, 3 characters) saved to /saved/1.txt')],
    ],
    [
      'a blob is saved and named',
      { content: [blob('x://z', 'application/zip')] },
      [text('[Resource from r at x://z] Binary content (application/zip, 4 bytes) saved to /saved/1.zip')],
    ],
    [
      'a blob that is a text and says so is a text',
      { content: [blob('x://t', 'application/ld+json; charset=utf-8', 'eyJhIjoiw6kifQ==')] },
      [text('[Resource from r at x://t] {"a":"é"}')],
    ],
    [
      'a blob that says so and is none is saved',
      { content: [blob('x://t', 'text/plain', '/wD/')] },
      [text('[Resource from r at x://t] Binary content (text/plain, 3 bytes) saved to /saved/1.txt')],
    ],
    [
      'an embedded image is shown after its name',
      { content: [blob('x://p', 'application/octet-stream', data)] },
      [text('[Resource from r at x://p]'), seen, seenAt],
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
    ['nothing', null, '(mcp__r__t completed with no output)'],
    ['empty content', { content: [], _meta: { x: 1 } }, '(mcp__r__t completed with no output)'],
    [
      'a type of the future is named and shown',
      { content: [{ type: 'hologram', of: 'you' }] },
      [text('[Content of unknown type "hologram" from r] {"type":"hologram","of":"you"}')],
    ],
    ['content that is a text', { content: 'so' }, [text('so')]],
    ['content that is one block', { content: text('so') }, [text('so')]],
    ['content that is a number', { content: 5 }, [text('[Unreadable content from r] 5')]],
    [
      'blocks that are none',
      {
        content: [
          null,
          { type: 'text', text: 1 },
          { type: 'image' },
          { type: 'resource_link' },
          { type: 'resource' },
        ],
      },
      [
        text('[Unreadable content from r] null'),
        text('[Unreadable text from r] {"type":"text","text":1}'),
        text('[Unreadable image from r] {"type":"image"}'),
        text('[Unreadable resource link from r] {"type":"resource_link"}'),
        text('[Unreadable resource from r] {"type":"resource"}'),
      ],
    ],
    ['a result of old', { toolResult: 7 }, [text('[Unreadable content from r] {"toolResult":7}')]],
    ['a result that is a text', 'so', [text('so')]],
  ];

  test.each(TABLE)('%s', async (_name, result, content) => {
    expect(await toModel(result, sourceWith())).toEqual({ content, isError: false });
  });

  describe('failures', () => {
    test('the texts of a failed result are joined', async () => {
      const result = { isError: true, content: [text('a'), text('b')] };
      expect(await toModel(result, sourceWith())).toEqual({ content: 'a\nb', isError: true });
    });

    test('a failed result without content is an unknown error', async () => {
      const result = { isError: true, content: [] };
      expect(await toModel(result, sourceWith())).toEqual({ content: 'Unknown error', isError: true });
    });

    test('a failed result is text only, with the path of its image and its structured content', async () => {
      const result = { isError: true, content: [text('no'), png], structuredContent: { n: 1 } };
      const content = 'no\n[Image: source: /saved/1.png] Not shown: the call failed.\n{"n":1}';
      expect(await toModel(result, sourceWith())).toEqual({ content, isError: true });
    });

    test('a JSON-RPC error becomes its message', async () => {
      const expected = { content: 'no such thing', isError: true };
      const source = sourceWith();
      expect(await failureToModel({ code: -32602, message: 'no such thing' }, source)).toEqual(expected);
      expect(await failureToModel(new Error('no such thing'), source)).toEqual(expected);
    });

    test('the limit also applies to error messages', async () => {
      const { content } = await failureToModel(new Error('x'.repeat(200_000)), sourceWith());
      expect(content.length).toBeLessThan(4_000);
      expect(content).toContain('It is saved in /saved/1.txt');
    });

    test('data that cannot be saved is described, and an image is still shown', async () => {
      const result = { content: [png, { type: 'audio' as const, data: 'AAAA', mimeType: 'audio/wav' }] };
      const fault = 'ENOSPC: no space left on device, write';
      const said = text(`[Audio from r] Binary content (audio/wav, 3 bytes) could not be saved: ${fault}`);
      const source = sourceWith({ store: FULL });
      expect(await toModel(result, source)).toEqual({ content: [seen, said], isError: false });
    });

    test('an image of a failed result that cannot be saved is described', async () => {
      const { content } = await toModel({ isError: true, content: [png] }, sourceWith({ store: FULL }));
      expect(content).toMatch(/^\[Image that could not be saved: ENOSPC.*\] Not shown: the call failed\.$/);
    });
  });

  test('resource contents are converted like embedded resources, within the same limit', async () => {
    const store = memoryStore();
    const source = sourceWith({ store, maxTokens: 1_000 });
    const contents = [
      { uri: 'x://a', text: 'short' },
      { uri: 'x://b', text: 'long '.repeat(2_000) },
      { uri: 'x://p', blob: data },
      { uri: 'x://none' },
    ];
    const { content, isError } = await contentsToModel(contents, source);
    expect(isError).toBe(false);
    expect(content).toEqual([
      text('[Resource from r at x://a] short'),
      text(
        expect.stringMatching(/^\[Resource from r at x:\/\/b\] A part of the result has 10,000 characters/),
      ),
      text('[Resource from r at x://p]'),
      seen,
      seenAt,
      text('[Unreadable resource from r] {"uri":"x://none"}'),
    ]);
    expect(await contentsToModel([], source)).toEqual({
      content: '(mcp__r__t completed with no output)',
      isError: false,
      programResult: { contents: [] },
    });
  });

  test.each([
    ['a result', (given: object[], ...rest: Rest) => toModel({ content: given }, ...rest)],
    ['resources', (given: object[], ...rest: Rest) => contentsToModel(given, ...rest)],
  ])('%s: an interrupted conversion saves nothing more', async (what, convert) => {
    const store = memoryStore();
    const interrupted = new AbortController();
    const save: typeof store.save = async (bytes, extension) => {
      if (store.files.size === 1) interrupted.abort(new Error('enough'));
      return store.save(bytes, extension);
    };
    const blobs = ['AAAA', 'BBBB', 'CCCC', 'DDDD'].map((it) => blob('x://b', 'application/zip', it));
    const given = what === 'a result' ? blobs : blobs.map(({ resource }) => resource);
    const source = sourceWith({ store: { ...store, save } });
    await expect(convert(given, source, interrupted.signal)).rejects.toThrow('enough');
    expect(store.files.size).toBe(2);
  });

  type Rest = [source: ReturnType<typeof sourceWith>, signal: AbortSignal];
});

describe('repeats', () => {
  test.each<[string, unknown, boolean]>([
    ['{"a":1,"b":2}', { b: 2, a: 1 }, true],
    [' {\n  "a": 1 }', { a: 1 }, true],
    ['{"a":1}', { a: 2 }, false],
    ['{"a":1}', { a: 1, b: 2 }, false],
    ['a: 1', { a: 1 }, false],
    ['hello', { result: 'hello' }, true],
    ['"hello"', { result: 'hello' }, true],
    ['5', { result: 5 }, true],
    ['two', { result: ['one', 'two'] }, true],
    ['{"id":2}', { result: [{ id: 1 }, { id: 2 }] }, true],
    ['{"id":3}', { result: [{ id: 1 }, { id: 2 }] }, false],
    ['hello', { result: 'hello', more: 1 }, true],
    ['hello', { answer: 'hello' }, true],
    ['hello', { answer: { text: 'hello' } }, false],
    ['', { result: [] }, false],
    ['{"__proto__":1,"a":2}', JSON.parse('{"a":2,"__proto__":1}'), true],
    ['{"a":[{"c":1,"b":2}]}', { a: [{ b: 2, c: 1 }] }, true],
    ['[1,2]', { result: [2, 1] }, false],
    ['undefined', { result: undefined }, false],
  ])('%j repeats %j: %s', (text, structure, expected) => {
    expect(repetitionOf(structure)(text)).toBe(expected);
  });

  test('content that is nested too deeply to be compared counts as different', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(repetitionOf(JSON.parse(text))(text)).toBe(false);
  });

  test('the number of comparisons is linear in the number of texts', () => {
    let looks = 0;
    const items = Array.from({ length: 500 }, (_, id) => ({
      get id() {
        looks++;
        return id;
      },
    }));
    const repeats = repetitionOf({ result: items });
    expect(items.every((_, id) => repeats(`{"id":${id}}`))).toBe(true);
    expect(items.some((_, id) => repeats(`{"other":${id}}`))).toBe(false);
    expect(looks).toBeLessThan(10 * items.length);
  });

  test('very long structured content is compared by its strings only', () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'xxxx' }));
    const repeats = repetitionOf({ rows, note: 'done' });
    expect([repeats(JSON.stringify({ rows, note: 'done' })), repeats('done')]).toEqual([false, true]);
  });
});
