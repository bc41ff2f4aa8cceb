import { expect, test } from 'vitest';
import { parseTool } from '../../../src/mcp/discovery/list-entries.ts';
import { readList } from '../../../src/mcp/discovery/read-list.ts';

const object = { type: 'object' };
const assumed = '"inputSchema" does not have type "object"; type "object" is assumed';
const missing = '"inputSchema" is missing; any arguments are accepted';

test.each<[string, unknown, object | undefined, string[]]>([
  ['is whole', { ...object, properties: { a: {} } }, { ...object, properties: { a: {} } }, []],
  ['is missing', undefined, object, [missing]],
  ['is null', null, object, [missing]],
  ['is true', true, object, [missing]],
  ['is the empty list of a language without empty maps', [], object, [missing]],
  ['has no type (gitlab of the catalogue)', { $schema: 'x' }, { $schema: 'x', ...object }, [assumed]],
  ['may be an object', { type: ['object', 'null'] }, object, [assumed]],
  [
    'has properties that are a list',
    { ...object, properties: [] },
    object,
    ['"inputSchema.properties" is not an object and was removed'],
  ],
  [
    'requires nothing that has a name',
    { ...object, required: true },
    object,
    ['"inputSchema.required" is not a list of strings and was removed'],
  ],
  ['says null where it has nothing', { ...object, properties: null, required: null }, object, []],
])('a schema that %s makes a tool', (_, inputSchema, schema, repairs) => {
  const given = inputSchema === undefined ? { name: 't' } : { name: 't', inputSchema };
  expect(parseTool(given)).toEqual({ item: { name: 't', inputSchema: schema }, name: 't', repairs });
});

test('a valid tool is the same object that the server sent', () => {
  const tool = { name: 't', inputSchema: object, annotations: { readOnlyHint: true }, own: 1 };
  const read = parseTool(tool);
  expect('item' in read && read.item).toBe(tool);
});

test.each<[string, unknown, string]>([
  ['description', 7, 'a string'],
  ['title', {}, 'a string'],
  ['annotations', 'x', 'an object'],
  ['outputSchema', [], 'an object'],
  ['_meta', 1, 'an object'],
  ['icons', [{ src: 1 }], 'a list of icons, each with its "src"'],
  ['icons', {}, 'a list of icons, each with its "src"'],
  ['execution', 'x', 'an object'],
])('an invalid %s is removed', (member, value, what) => {
  expect(parseTool({ name: 't', inputSchema: object, [member]: value, own: 1 })).toEqual({
    item: { name: 't', inputSchema: object, own: 1 },
    name: 't',
    repairs: [`"${member}" is not ${what} and was removed`],
  });
});

test('a null member is absent, without a diagnostic', () => {
  const nothings = { description: null, title: null, annotations: null, outputSchema: null, icons: null };
  expect(parseTool({ name: 't', inputSchema: object, ...nothings })).toEqual({
    item: { name: 't', inputSchema: object },
    name: 't',
    repairs: [],
  });
});

test('invalid hints are removed', () => {
  const annotations = { readOnlyHint: 'yes', destructiveHint: false, title: 'T', more: 1 };
  expect(parseTool({ name: 't', inputSchema: object, annotations })).toEqual({
    item: { name: 't', inputSchema: object, annotations: { destructiveHint: false, title: 'T', more: 1 } },
    name: 't',
    repairs: ['"annotations.readOnlyHint" is not true or false and was removed'],
  });
});

const nested = (depth: number): unknown => JSON.parse(`${'{"items":'.repeat(depth)}{}${'}'.repeat(depth)}`);

test.each<[string, unknown, object]>([
  ['no object', [1], { fault: 'not an object' }],
  ['no name', { inputSchema: object }, { fault: '"name" must be a non-empty string' }],
  ['an empty name', { name: '', inputSchema: object }, { fault: '"name" must be a non-empty string' }],
  [
    'a schema of text',
    { name: 't', inputSchema: 'x' },
    { name: 't', fault: '"inputSchema" must be an object' },
  ],
  [
    'a schema of another type',
    { name: 't', inputSchema: { type: 'string' } },
    { name: 't', fault: '"inputSchema" must have type "object"' },
  ],
  [
    'no end to its schema',
    { name: 't', inputSchema: { ...object, properties: { a: nested(5_000) } } },
    { name: 't', fault: 'nested deeper than 200 levels' },
  ],
  [
    'a number that JSON cannot hold',
    { name: 't', inputSchema: { ...object, maximum: 1n } },
    { name: 't', fault: 'contains a bigint, which JSON cannot represent' },
  ],
])('one with %s cannot be used', (_, value, read) => {
  expect(parseTool(value)).toEqual(read);
});

test('long names are read, excessively long ones are left out', async () => {
  expect(parseTool({ name: 'n'.repeat(1_024), inputSchema: object })).toMatchObject({ repairs: [] });
  const name = 'n'.repeat(1_025);
  const fault = '"name" is longer than 1024 characters';
  expect(parseTool({ name, inputSchema: object })).toEqual({ name, fault });
  const ask = async () => ({ tools: [{ name: 'é'.repeat(4_000_000), inputSchema: object }] });
  expect(await readList({ server: 's', list: 'tools', requestPage: ask, read: parseTool })).toEqual({
    items: [],
    diagnostics: [{ server: 's', list: 'tools', entry: `${'é'.repeat(200)}…`, fault, outcome: 'set-aside' }],
  });
});

test('prototype member names are ordinary names, and prototype members do not count', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(parseTool({ name, inputSchema: object })).toMatchObject({ name, repairs: [] });
  }
  const odd = JSON.parse('{"name":"t","__proto__":{"title":7},"inputSchema":{"__proto__":{}},"title":7}');
  const read = parseTool(odd);
  if (!('item' in read)) throw new Error(read.fault);
  expect(Object.getPrototypeOf(read.item)).toBe(Object.prototype);
  expect(JSON.stringify(read.item)).toBe(
    '{"name":"t","__proto__":{"title":7},"inputSchema":{"__proto__":{},"type":"object"}}',
  );
});
