import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallToolResultSchema } from '../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/types.js';
import { failedResult, plainJson, wrapResult } from '../../src/tool-server/result.ts';

describe('result', () => {
  const wrap = (value: unknown) => wrapResult(value, { structured: false });
  const text = (it: string) => ({ content: [{ type: 'text', text: it }] });
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  test.each<[string, unknown, unknown]>([
    ['R97 a string', 'hi', text('hi')],
    ['an empty string', '', text('')],
    ['R100 a number', 8, text('8')],
    ['a boolean', false, text('false')],
    ['a big integer', 2n ** 70n, text('1180591620717411303424')],
    ['R98 an object', { a: 1 }, text('{"a":1}')],
    ['R98 a list', [1, 'a'], text('[1,"a"]')],
    ['null', null, { content: [] }],
    ['undefined', undefined, { content: [] }],
    ['R99 an error', new Error('no such user'), { ...text('no such user'), isError: true }],
    ['R101 a whole result', text('x'), text('x')],
    ['an empty result', { content: [] }, { content: [] }],
    ['a result with _meta', { ...text('x'), _meta: { a: 1 } }, { ...text('x'), _meta: { a: 1 } }],
    ['a member that is undefined', { ...text('x'), more: undefined }, text('x')],
    ['R98 a map', new Map([['a', 1]]), text('{"a":1}')],
    ['R98 a set', new Set([1, 'a']), text('[1,"a"]')],
    ['C3 isError', { ...text('x'), isError: true }, { ...text('x'), isError: true }],
    ['C3 is_error', { ...text('x'), is_error: true }, { ...text('x'), isError: true }],
    [
      'C3 both: camel wins',
      { ...text('x'), is_error: true, isError: false },
      { ...text('x'), isError: false },
    ],
    ['a flag that is no boolean', { ...text('x'), isError: 'yes' }, text('x')],
    ['only a flag', { isError: true }, { content: [], isError: true }],
    [
      'only structured content',
      { structuredContent: { a: 1 } },
      { ...text('{"a":1}'), structuredContent: { a: 1 } },
    ],
    ['structured content that is empty', { structuredContent: {} }, { content: [], structuredContent: {} }],
    ['data with a content member', { content: 'a page' }, text('{"content":"a page"}')],
    ['data with a list of contents', { content: [1, 2] }, text('{"content":[1,2]}')],
    ['data with an empty list beside a count', { content: [], total: 0 }, text('{"content":[],"total":0}')],
    [
      'data with a list of typed things beside a count',
      { content: [{ type: 'article' }], total: 1 },
      text('{"content":[{"type":"article"}],"total":1}'),
    ],
    [
      'data with texts among blocks',
      { content: ['a', { type: 'text', text: 'b' }] },
      text('{"content":["a",{"type":"text","text":"b"}]}'),
    ],
    [
      'data with a flag',
      { isError: true, reason: 'full' },
      { ...text('{"isError":true,"reason":"full"}'), isError: true },
    ],
    [
      'data with a flag and a page',
      { content: 'oops', isError: true },
      { ...text('{"content":"oops","isError":true}'), isError: true },
    ],
    ['data with _meta alone', { _meta: { a: 1 } }, text('{"_meta":{"a":1}}')],
    ['an empty object', {}, text('{}')],
  ])('C22 %s', (_name, value, expected) => {
    expect(wrap(value)).toEqual(expected);
  });

  const BLOCKS = [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'QUJD', mimeType: 'image/png' },
    { type: 'audio', data: 'QUJD', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///x', name: 'x' },
    { type: 'resource', resource: { uri: 'file:///x', text: 'body' } },
    { type: 'resource', resource: { uri: 'file:///x', blob: 'QUJD' } },
  ];

  test('every kind of block passes, in order', () => {
    expect(wrap({ content: BLOCKS })).toEqual({ content: BLOCKS });
  });

  test.each<[unknown, string]>([
    [{ content: [{ type: 'text' }] }, 'content[0] (text) has no string "text"'],
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'x' },
        ],
      },
      'content[1] (image) has no string "mimeType"',
    ],
    [{ content: [{ type: 'resource_link', uri: 'u' }] }, 'content[0] (resource_link) has no string "name"'],
    [{ content: [{ type: 'resource' }] }, 'content[0] has no resource'],
    [{ content: [{ type: 'resource', resource: {} }] }, 'content[0] (resource) has no string "uri"'],
    [
      { content: [{ type: 'resource', resource: { uri: 'u' } }] },
      'content[0] (resource) has no string "text" or "blob"',
    ],
    [{ content: [{ type: 'video' }] }, 'content[0] has the unknown type "video"'],
    [{ content: [{ type: 'constructor' }] }, 'content[0] has the unknown type "constructor"'],
    [{ content: [], structuredContent: [1] }, '"structuredContent" is not an object'],
    [
      { content: [], structuredContent: new Map([['a', 1]]) },
      '"structuredContent" is a Map or a Set, not a plain object',
    ],
    [{ content: [], _meta: 'x' }, '"_meta" is not an object'],
  ])('%j is an error result with the cause', (value, fault) => {
    expect(wrap(value)).toEqual(failedResult(`The tool returned a malformed result: ${fault}`));
  });

  test.each([
    [() => {}, 'The tool returned a function, which cannot be serialized.'],
    [Symbol('s'), 'The tool returned a symbol, which cannot be serialized.'],
    [cyclic, 'The tool returned data that cannot be serialized as JSON: '],
    [{ n: 1n }, 'The tool returned data that cannot be serialized as JSON: '],
  ])('a value that is not serializable is an error result: case %#', (value, message) => {
    expect(wrap(value)).toEqual({
      content: [{ type: 'text', text: expect.stringContaining(message) }],
      isError: true,
    });
  });

  test('an object is structured content if the tool has an output schema', () => {
    expect(wrapResult({ a: 1 }, { structured: true })).toEqual({
      ...text('{"a":1}'),
      structuredContent: { a: 1 },
    });
    expect(wrapResult({ m: new Map([['a', 1]]) }, { structured: true })).toEqual({
      ...text('{"m":{"a":1}}'),
      structuredContent: { m: { a: 1 } },
    });
    expect(wrapResult('a', { structured: true })).toEqual(text('a'));
  });

  const maybe = <T>(it: fc.Arbitrary<T>) => fc.option(it, { nil: undefined });
  const blockLike = fc.oneof(
    fc.constantFrom(...BLOCKS),
    fc.record(
      {
        type: fc.constantFrom('text', 'image', 'resource', 'resource_link', 'toString', 'x'),
        text: fc.jsonValue(),
        data: fc.constant('QUJD'),
        mimeType: fc.jsonValue(),
        uri: fc.jsonValue(),
        name: fc.jsonValue(),
        resource: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const resultLike = fc.record(
    {
      content: fc.oneof(fc.array(blockLike, { maxLength: 3 }), fc.jsonValue()),
      isError: fc.oneof(fc.boolean(), fc.jsonValue()),
      is_error: fc.oneof(fc.boolean(), fc.jsonValue()),
      structuredContent: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
      _meta: maybe(fc.jsonValue()),
      other: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  test('C3 any JSON value becomes a valid result, and no is_error ever leaves', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), resultLike), (value) => {
        const sent = JSON.parse(JSON.stringify(wrap(value))) as Record<string, unknown>;
        expect(sent).not.toHaveProperty('is_error');
        expect(CallToolResultSchema.safeParse(sent)).toMatchObject({ success: true });
      }),
      { numRuns: 500 },
    );
  });
});

describe('plain json', () => {
  test.each<[string, object, string]>([
    ['a map by names is an object', new Map([['a', 1]]), '{"a":1}'],
    [
      'a map by anything else is its entries',
      new Map<unknown, unknown>([
        [1, 'a'],
        ['b', 2],
      ]),
      '[[1,"a"],["b",2]]',
    ],
    ['an empty map is an empty object', new Map(), '{}'],
    ['a set is an array', new Set([1, 2]), '[1,2]'],
    [
      'inside other data',
      { users: new Map([['ada', new Set(['admin'])]]), none: {} },
      '{"users":{"ada":["admin"]},"none":{}}',
    ],
    [
      'an own toJSON comes first',
      { at: new Date(0), none: {} },
      '{"at":"1970-01-01T00:00:00.000Z","none":{}}',
    ],
  ])('%s', (_name, value, text) => {
    const plain = plainJson(value);
    expect(plain.text).toBe(text);
    expect(JSON.stringify(plain.data)).toBe(text);
  });

  test('data without maps and sets is left as it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.object(), fc.array(fc.jsonValue())), (value) => {
        expect(plainJson(value)).toEqual({ text: JSON.stringify(value), data: value });
        expect(plainJson(value).data).toBe(value);
      }),
    );
  });

  test('throws for data that is not serializable', () => {
    expect(() => plainJson({ n: 1n })).toThrow('BigInt');
    expect(() => plainJson(new Map([['n', 1n]]))).toThrow('BigInt');
  });
});
