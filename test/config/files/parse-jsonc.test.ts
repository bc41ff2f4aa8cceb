import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonc } from '../../../src/config/files/parse-jsonc.ts';

const SECRET = 'sk-hidden';

test.each([
  ['comments', '{ // one\n "a": 1, /* two */ "b": [2] }', { a: 1, b: [2] }],
  ['trailing commas', '{"a": [1, 2,], "b": {"c": 3,},}', { a: [1, 2], b: { c: 3 } }],
  ['a byte order mark', '\uFEFF{"a": 1}', { a: 1 }],
  ['a byte order mark and comments', '\uFEFF// x\n{"a": 1}', { a: 1 }],
  ['CRLF', '{\r\n"a": 1 // x\r\n}', { a: 1 }],
  ['what looks like a comment in a text', '{"url": "http://x/*y*/",}', { url: 'http://x/*y*/' }],
  ['nothing', '', undefined],
  ['blanks and comments only', ' \n// x\n/* y */', undefined],
  ['a value that is no object', '[1,]', [1]],
])('parses %s', (_, text, value) => {
  expect(parseJsonc(text)).toMatchObject({ value, faults: [], duplicates: [] });
});

test.each(['{"__proto__": {"x": 1}, "constructor": 2}', '{"__proto__": {"x": 1}, "constructor": 2,}'])(
  'treats __proto__ as an ordinary name: %s',
  (text) => {
    const { value } = parseJsonc(text);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('x' in (value as object)).toBe(false);
  },
);

test.each([
  ['{"a": "1" "b": 2}', 1, 11, 'missing comma or closing bracket before this'],
  ['{\n  "a": 1,\n  b: 2\n}', 3, 3, 'not valid JSON; strings and keys need double quotes'],
  ['{"a": 1', 1, 8, 'missing closing }'],
  ['{"a": [1}', 1, 9, 'missing comma or closing bracket before this'],
  ['{"a": [1', 1, 9, 'missing closing ]'],
  [`{"a": "${SECRET}`, 1, 7, 'unterminated string; a double quote is missing'],
  ['{"a": }', 1, 7, 'missing value'],
  ['{"a" 1}', 1, 6, 'missing colon'],
  ['{} {}', 1, 4, 'unexpected content after the end of the value'],
  ['{} /* x', 1, 4, 'unterminated comment; */ is missing'],
  ['{"a": "\\q"}', 1, 8, 'invalid escape; write \\\\ for a backslash'],
  ['{"a": "\\\\ \\u12"}', 1, 11, 'invalid escape; write \\\\ for a backslash'],
  ['{"a": "\t"}', 1, 8, 'control character in a string; write it as an escape, such as \\t or \\u0001'],
  [`{"a": "${SECRET},\n "b": 1}`, 1, 7, 'unterminated string; a double quote is missing'],
  ['{"a": 01}', 1, 7, 'not a number'],
  ['{"a": 1_000}', 1, 7, 'not a number'],
  ['{"a": NaN}', 1, 7, 'not valid JSON; strings and keys need double quotes'],
  ['[1,,2]', 1, 4, 'missing value'],
  ['{,}', 1, 2, 'missing key in double quotes'],
  ['{"a": 1}]', 1, 9, 'unexpected content after the end of the value'],
  ['{"a": 1 /* x', 1, 9, 'unterminated comment; */ is missing'],
  ['{"a" /* x', 1, 6, 'unterminated comment; */ is missing'],
  ['{"a"', 1, 5, 'missing colon'],
  ['{"a":', 1, 6, 'missing value'],
  ['\uFEFF{\r\n\r"a"', 3, 4, 'missing colon'],
  [`{"a": ${SECRET}}`, 1, 7, 'not valid JSON; strings and keys need double quotes'],
])('reports %j at %i:%i without parts of the text', (text, line, column, message) => {
  const { faults } = parseJsonc(text);
  expect(faults[0]).toEqual({ message, position: { line, column } });
  expect(JSON.stringify(faults)).not.toContain(SECRET);
});

test('reads the part before a fault', () => {
  expect(parseJsonc('{"a": 1, "b": {"c": 2}, "d" }').value).toEqual({ a: 1, b: { c: 2 } });
});

test('uses the last of duplicate keys and reports their positions', () => {
  const text = '{\n  "a": {"x": 1},\n  "b": [{"y": 1, "y": 2}],\n  "a": {"x": 3}\n}';
  expect(parseJsonc(text)).toMatchObject({
    value: { a: { x: 3 }, b: [{ y: 2 }] },
    faults: [],
    duplicates: [
      { path: ['b', 0, 'y'], position: { line: 3, column: 18 } },
      { path: ['a'], position: { line: 4, column: 3 } },
    ],
  });
  expect(parseJsonc(text).locate(['a'])).toEqual({ line: 4, column: 3 });
});

test.each([
  ['strict', '{\n  "a": {\n    "b": [1, {"c": 2}]\n  }\n}'],
  ['with comments', '{ // x\n  "a": {\n    "b": [1, {"c": 2}],\n  }\n}'],
])('finds positions in a text that is %s', (_, text) => {
  const { locate } = parseJsonc(text);
  expect(
    [
      [],
      ['a'],
      ['a', 'b'],
      ['a', 'b', 1],
      ['a', 'b', 1, 'c'],
      ['x'],
      ['a', 'b', 7],
      ['a', 'b', 'c', 'd'],
    ].map(locate),
  ).toEqual([
    { line: 1, column: 1 },
    { line: 2, column: 3 },
    { line: 3, column: 5 },
    { line: 3, column: 14 },
    { line: 3, column: 15 },
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['lists', '['],
  ['objects', '{"a":'],
  ['lists with comments', '/**/['],
])('reports endlessly nested %s instead of crashing', (_, open) => {
  const { value, faults } = parseJsonc(open.repeat(300_000));
  expect(value).toBeUndefined();
  expect(faults).toMatchObject([{ message: 'objects and lists are nested more than 200 deep' }]);
});

test('limits the depth of a complete text too', () => {
  expect(parseJsonc('['.repeat(200) + ']'.repeat(200)).faults).toEqual([]);
  expect(parseJsonc('['.repeat(201) + ']'.repeat(201)).faults).toHaveLength(1);
});

test('ignores brackets in strings', () => {
  const text = JSON.stringify({ a: '[{"'.repeat(500), '\\"[': '\\' });
  expect(parseJsonc(text).value).toEqual(JSON.parse(text));
});

test('reports one fault for a text that is not JSON', () => {
  expect(parseJsonc('no '.repeat(10_000)).faults).toHaveLength(1);
});

test('agrees with JSON.parse, also beside a comment', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const value = JSON.parse(text);
      expect(parseJsonc(text)).toMatchObject({ faults: [], duplicates: [] });
      expect(parseJsonc(text).value).toEqual(value);
      expect(parseJsonc(`/**/${text}`).faults).toEqual([]);
      expect(parseJsonc(`/**/${text}`).value).toEqual(value);
    }),
  );
});

test('refuses what JSON.parse refuses, except comments, trailing commas and empty texts', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', 'x', ' ', '"')),
      (parts) => {
        const text = parts.join('');
        if (parseJsonc(text).faults.length > 0) return;
        const strict = text.replaceAll(/,\s*([}\]])/g, '$1').trim();
        expect(strict === '' || JSON.parse(strict) !== undefined).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const { faults, locate } = parseJsonc(text);
      locate([]);
      expect(faults.every(({ position }) => position.line >= 1 && position.column >= 1)).toBe(true);
    }),
  );
});

test('reads 500 servers and their positions in a few milliseconds', () => {
  const entry = { command: 'npx', args: ['-y', '@x/server'], env: { TOKEN: 'x'.repeat(50) } };
  const mcpServers = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`server-${n}`, entry]));
  const text = JSON.stringify({ mcpServers }, null, 2);
  const start = performance.now();
  const { locate } = parseJsonc(text);
  const places = Object.keys(mcpServers).map((name) => locate(['mcpServers', name])?.line);
  // A generous limit: the time must not be quadratic.
  expect(performance.now() - start).toBeLessThan(2000);
  expect(places).toEqual(Array.from({ length: 500 }, (_, n) => 3 + n * 10));
});

test.each([
  ['strict', '', ''],
  ['with a comment', '// x\n', ''],
  ['with a trailing comma', '', ','],
])('limits the number of values in a text that is %s', (_, before, after) => {
  const zeros = (count: number) => `${before}[${'0,'.repeat(count - 1)}0${after}]`;
  expect(parseJsonc(zeros(199_999)).faults).toEqual([]);
  const { value, faults } = parseJsonc(zeros(200_000));
  expect(value).toBeUndefined();
  expect(faults).toMatchObject([{ message: 'contains more than 200000 values' }]);
});

test('counts empty objects and lists once', () => {
  const { value, faults } = parseJsonc(`[${'[],{},'.repeat(99_999)}1]`);
  expect(faults).toEqual([]);
  expect(value).toHaveLength(199_999);
});

test('does not keep the syntax tree in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const used = async () => {
    await new Promise(setImmediate);
    collect();
    return process.memoryUsage().heapUsed;
  };
  const text = `{ // x\n "a": [${'0,'.repeat(150_000)}] }`;
  const before = await used();
  const { locate } = parseJsonc(text);
  expect((await used()) - before).toBeLessThan(5_000_000);
  expect(locate(['a', 3])).toEqual({ line: 2, column: 14 });
});
