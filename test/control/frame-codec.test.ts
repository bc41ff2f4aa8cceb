import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeFrame, encodeFrame } from '../../src/control/frame-codec.ts';

test('any frame is one line, and is read back as it was', () => {
  const frame = fc.record({ text: fc.string({ unit: 'binary' }), value: fc.jsonValue() });
  fc.assert(
    fc.property(frame, (it) => {
      const line = encodeFrame(it);
      expect(line).not.toMatch(/[\n\r]/);
      expect(decodeFrame(line)).toEqual(JSON.parse(JSON.stringify(it)));
    }),
  );
});

test('U+2028 goes out raw, as the incumbent sends it', () => {
  expect(encodeFrame({ a: '\u2028' })).toBe('{"a":"\u2028"}');
});

test('what is no JSON is refused with its cause', () => {
  expect(() => encodeFrame({ n: 1n })).toThrow(
    expect.objectContaining({ code: 'unsendable', cause: expect.any(TypeError) }),
  );
});

test.each(['', 'Debugger attached.', '{"a":', '[1]', '"text"', '5', 'null', 'true'])(
  'the line %j is noise',
  (line) => {
    expect(decodeFrame(line)).toBeUndefined();
  },
);
