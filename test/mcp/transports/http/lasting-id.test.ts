import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpFault } from '../../../../src/mcp/transports/http/http-fault.ts';
import { idAfter, mayBlameId } from '../../../../src/mcp/transports/http/lasting-id.ts';

test.each([
  ['an id', 'id: 7\ndata: a\n\n', '7'],
  ['none', 'data: a\n\n', 'before'],
  ['one with letters of Latin-1', 'id: é\n\n', 'é'],
  ['one with other letters', 'id: 事件-7\n\n', undefined],
  ['one with a control character', 'id: 7\u0001\n\n', undefined],
  ['one with a zero', 'id: 7\u0000\n\n', undefined],
])('after an event with %s the stream goes on from what a header can hold', (_, event, id) => {
  expect(idAfter(event, 'before')).toBe(id);
});

test('no id is kept that a header refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (id) => {
      const kept = idAfter(`id: ${id}\n\n`, undefined);
      if (kept !== undefined) expect(new Headers({ 'last-event-id': kept }).has('last-event-id')).toBe(true);
    }),
  );
});

const answered = (status: number) => new HttpFault('no', { code: 'http-status', status, wasSent: true });

test.each([
  ['a 400', true, answered(400)],
  ['a 404', true, answered(404)],
  ['a 500', true, answered(500)],
  ['a 503', false, answered(503)],
  ['a cut', true, new HttpFault('cut', { code: 'ECONNRESET', wasSent: true })],
  ['nobody there', false, new HttpFault('away', { code: 'ECONNREFUSED', wasSent: false })],
  ['a throw', true, new TypeError('no header')],
])('%s may be the doing of the id: %s', (_, may, fault) => {
  expect(mayBlameId(fault)).toBe(may);
});
