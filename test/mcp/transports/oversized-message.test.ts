import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MessageScanner } from '../../../src/mcp/transports/oversized-message.ts';

/** The result of the scanner for a text that arrives in pieces of these sizes, repeated. */
function scan(text: string, sizes: readonly number[] = [1]) {
  const scanner = new MessageScanner();
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number;
    scanner.write(bytes.subarray(at, at + size));
    at += size;
  }
  return scanner.end();
}

/** The expected result, from the parsed message. */
function told(message: Record<string, unknown>) {
  const { id } = message;
  const isId = typeof id === 'string' || Number.isInteger(id);
  return { id: isId ? id : undefined, hasMethod: Object.hasOwn(message, 'method') };
}

const key = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('id', 'method', 'result', 'i', 'idd', '', '"', '\\', 'Id') },
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);
const hostile = fc.constantFrom('"id":1', '\\"id\\":', '{"id":7}', '\\', '\\\\"', ',"id":2}', '\u2028é𝄞');
const leaf = fc.oneof(fc.string({ maxLength: 30 }), hostile, fc.integer(), fc.double(), fc.boolean());
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));
const message = fc.dictionary(key, value, { maxKeys: 6 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const indent = fc.constantFrom('', ' ', '\t');

/** The JSON text on one line, as it is sent. */
const write = (sent: unknown, space: string) => JSON.stringify(sent, null, space).replaceAll('\n', ' ');

test('it tells the id of any message, wherever the id stands and however the bytes are cut', () => {
  fc.assert(
    fc.property(message, sizes, indent, (sent, cuts, space) => {
      const text = write(sent, space);
      expect(scan(text, cuts)).toEqual([told(JSON.parse(text) as Record<string, unknown>)]);
    }),
    { numRuns: 500 },
  );
});

test('it tells every id of a batch', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(message, leaf, fc.array(leaf))), sizes, indent, (sent, cuts, space) => {
      const text = write(sent, space);
      const read = JSON.parse(text) as unknown[];
      const messages = read.filter((it) => typeof it === 'object' && it !== null && !Array.isArray(it));
      expect(scan(text, cuts)).toEqual(messages.map((it) => told(it as Record<string, unknown>)));
    }),
  );
});

test.each<[string, string | number | undefined, string]>([
  ['{"id":1,"result":{},"id":2}', 2, 'of two members with one name the later counts'],
  ['{"id":1,"id":[2]}', undefined, 'also if it is no id'],
  ['{"\\u0069\\u0064":"\\u0061"}', 'a', 'escapes are read'],
  ['{"result":{"id":5},"params":[{"id":6}]}', undefined, 'members of members do not count'],
  [`{"id":"${'x'.repeat(2000)}"}`, undefined, 'what is longer than any id of ours is none'],
  ['{"id": 1.0 }', 1, 'a whole number is one however it is written'],
])('%s: %j, %s', (text, id) => {
  expect(scan(text)).toEqual([{ id, hasMethod: false }]);
});

test('a message that broke off is told if its id came before', () => {
  expect(scan('{"id":3,"result":{"text":"abc')).toEqual([{ id: 3, hasMethod: false }]);
  expect(scan('{"result":{"text":"abc')).toEqual([]);
});

test.each(['x'.repeat(100), '"id":1', '1,{"id":1}', '', '}}}]]]', ':::{{{,,,'])(
  'what is no message gives no id: %s',
  (text) => {
    expect(scan(text).filter(({ id }) => id !== undefined)).toEqual([]);
  },
);

test('it never throws', () => {
  const noise = fc.stringMatching(/^[{}[\]",:\\a-i0-9 ]*$/);
  fc.assert(
    fc.property(noise, sizes, (text, cuts) => {
      scan(text, cuts);
    }),
  );
});
