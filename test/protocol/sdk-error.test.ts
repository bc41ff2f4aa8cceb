import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AbortError, messageOf, SDK_ERRORS, SdkError } from '../../src/protocol/sdk-error.ts';

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

test.each<[unknown, string]>([
  [new Error('boom'), 'boom'],
  [new TypeError(''), 'TypeError'],
  [new DOMException('gone', 'AbortError'), 'gone'],
  [runInNewContext('new Error("of another realm")'), 'of another realm'],
  [{ message: 'like an error' }, 'like an error'],
  [Object.assign(new Error('x'), { message: 5 }), 'Error: 5'],
  ['text', 'text'],
  [{ a: 1 }, '{"a":1}'],
  [null, 'null'],
  [undefined, 'undefined'],
  [5n, '5'],
  [Symbol('s'), 'Symbol(s)'],
  [cyclic, 'an unprintable object'],
  [Object.create(null, { toJSON: { value: () => undefined } }), 'an unprintable object'],
])('any thrown value has a message: case %#', (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});

test('a message is always text', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (thrown) => {
      expect(messageOf(thrown)).toBeTypeOf('string');
    }),
  );
});

test('an SdkError carries its code, cause, server, detail and the agent’s own code', () => {
  const cause = new Error('c');
  const error = new SdkError('control-failed', 'calc: no', {
    cause,
    server: 'calc',
    detail: 'no',
    errorCode: 'e',
  });
  expect({ ...error, name: error.name, message: error.message, cause: error.cause }).toEqual({
    // The official package throws this error too, with this name.
    name: 'Error',
    message: 'calc: no',
    cause,
    code: 'control-failed',
    server: 'calc',
    detail: 'no',
    errorCode: 'e',
  });
  expect(new SdkError('closed', 'no').detail).toBe('no');
  expect(new SdkError('bad-option', 'no').name).toBe('SdkError');
  expect(new AbortError('x').name).toBe('Error');
  expect(new AbortError('x')).toBeInstanceOf(Error);
});

test('every code has a meaning and a remedy, each a sentence', () => {
  for (const { meaning, remedy } of Object.values(SDK_ERRORS)) {
    expect([meaning, remedy]).toEqual([
      expect.stringMatching(/^[A-Z`].*\.$/),
      expect.stringMatching(/^[A-Z`].*[.`]$/),
    ]);
  }
});
