import fc from 'fast-check';
import { expect, test } from 'vitest';
import { externalEntryFault } from '../../src/protocol/server-entry.ts';
import { unknownType } from '../../src/protocol/unknown-type.ts';

const KNOWN = 'known are sdk, stdio, http, sse, ws, sse-ide, ws-ide';

test.each<[unknown, string]>([
  ['grpc', `unknown type "grpc"; ${KNOWN}`],
  ['Streamable HTTP', `unknown type "Streamable HTTP"; ${KNOWN}; did you mean "http"?`],
  ['constructor', `unknown type "constructor"; ${KNOWN}`],
  ['x'.repeat(40), `unknown type "${'x'.repeat(40)}"; ${KNOWN}`],
  ['x'.repeat(41), `unknown type; ${KNOWN}`],
  ['\u001b[2Jhttp', `unknown type; ${KNOWN}`],
  ['\u009b2J', `unknown type; ${KNOWN}`],
  ['a\u202eb', `unknown type; ${KNOWN}`],
  ['sk-live-1234567890abcdef', `unknown type; ${KNOWN}`],
  ['Bearer abcdefghijkl', `unknown type; ${KNOWN}`],
  [['sk-secret'], `its type must be a text, and it is a list; ${KNOWN}`],
  [{ token: 'sk-secret' }, `its type must be a text, and it is an object; ${KNOWN}`],
  [{ toString: 1 }, `its type must be a text, and it is an object; ${KNOWN}`],
  [null, `its type must be a text, and it is null; ${KNOWN}`],
  [123456, `its type must be a text, and it is a number; ${KNOWN}`],
  [true, `its type must be a text, and it is a boolean; ${KNOWN}`],
])('%j is told without what may be secret or steer a terminal', (type, message) => {
  expect(unknownType(type)).toBe(message);
  if (type !== null) expect(externalEntryFault({ type })).toEqual({ member: 'type', message });
});

test('whatever stands there, one short line that can be shown comes of it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })), (type) => {
      expect(unknownType(type)).toMatch(/^[\x20-\x7e]{1,200}$/);
    }),
  );
});
