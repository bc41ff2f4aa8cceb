import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { paramHeaders, readHeaderParams } from '../../../src/mcp/connection/param-headers.ts';

const MARK = 'x-mcp-header';
const text = (name: unknown) => ({ type: 'string', [MARK]: name });
const object = (properties: object) => ({ type: 'object', properties });

describe('marked arguments', () => {
  test('are found at any depth of properties', () => {
    const schema = object({ a: text('A'), b: object({ c: { type: 'integer', [MARK]: 'C' } }), plain: {} });
    expect(readHeaderParams(schema)).toEqual([
      { path: ['a'], header: 'A' },
      { path: ['b', 'c'], header: 'C' },
    ]);
  });

  test.each([
    ['a property of that name', object({ [MARK]: { type: 'string' } })],
    [
      'data of that name',
      object({ a: { type: 'object', default: { [MARK]: 7 }, examples: [{ [MARK]: 7 }] } }),
    ],
    ['a required one of that name', { type: 'object', required: [MARK] }],
    ['no schema', undefined],
    ['a schema that says nothing', true],
  ])('%s is no mark', (_, schema) => {
    expect(readHeaderParams(schema)).toEqual([]);
  });

  test.each([
    ['the schema itself', { ...object({}), [MARK]: 'A' }],
    ['an empty name', object({ a: text('') })],
    ['no text', object({ a: text(7) })],
    ['a space', object({ a: text('My Region') })],
    ['a line break', object({ a: text('A\r\nB') })],
    ['a name twice, whatever its case', object({ a: text('Region'), b: text('REGION') })],
    ['a number', object({ a: { type: 'number', [MARK]: 'A' } })],
    ['an object', object({ a: { ...object({}), [MARK]: 'A' } })],
    ['no type', object({ a: { [MARK]: 'A' } })],
    ['items', object({ a: { type: 'array', items: text('A') } })],
    ['a choice', { type: 'object', oneOf: [object({ a: text('A') })] }],
    ['a definition', { type: 'object', $defs: { a: text('A') } }],
    ['others', { type: 'object', additionalProperties: text('A') }],
  ])('a mark is refused: %s', (_, schema) => {
    expect(readHeaderParams(schema)).toMatchObject({ fault: expect.any(String) });
  });
});

describe('headers', () => {
  const marked = [
    { path: ['a'], header: 'A' },
    { path: ['b', 'c'], header: 'C' },
  ];

  test.each([
    [
      { a: 'x', b: { c: 5 } },
      { 'Mcp-Param-A': 'x', 'Mcp-Param-C': '5' },
    ],
    [{ a: true, b: { c: null } }, { 'Mcp-Param-A': 'true' }],
    [{ a: {}, b: 'no object' }, {}],
    [{ a: Number.NaN, b: { c: 2 ** 60 } }, {}],
    [{}, {}],
  ])('%j', (args, headers) => {
    expect(paramHeaders(marked, args)).toEqual(headers);
  });

  test('hold every text and nothing a header may not hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const header = paramHeaders([{ path: ['a'], header: 'A' }], { a: value })['Mcp-Param-A'] ?? '';
        expect(header).toMatch(/^[\t\x20-\x7e]+$/);
        const coded = /^=\?base64\?(.*)\?=$/.exec(header)?.[1];
        const back = coded === undefined ? header : Buffer.from(coded, 'base64').toString();
        expect(back).toBe(Buffer.from(value).toString());
      }),
    );
  });

  test.each(['=?base64?eA==?=', ' x', ''])('%j is not taken for what it is not', (value) => {
    expect(paramHeaders(marked, { a: value })['Mcp-Param-A']).toMatch(/^=\?base64\?.*\?=$/);
  });
});

test('a schema that is nested too deep is invalid, and nothing throws', () => {
  const schema: unknown = JSON.parse(`${'{"not":'.repeat(100_000)}{}${'}'.repeat(100_000)}`);
  expect(readHeaderParams(schema)).toEqual({ fault: 'its schema is nested too deeply' });
});
