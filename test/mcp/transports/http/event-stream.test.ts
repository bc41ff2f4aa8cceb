import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventSizeLimiter, normalizeEvent } from '../../../../src/mcp/transports/http/event-stream.ts';

describe('event cap', () => {
  /** Feeds a text cut at every multiple of `step`. */
  function run(text: string, limit: number, step = text.length || 1) {
    const dropped: unknown[] = [];
    const cap = new EventSizeLimiter(limit, (id) => dropped.push(id));
    const bytes = Buffer.from(text);
    const passed: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += step) {
      passed.push(...cap.feed(bytes.subarray(at, at + step)));
    }
    return { passed: textOf(passed), rest: textOf(cap.flush()), dropped };
  }

  const textOf = (parts: Uint8Array[]) => Buffer.concat(parts).toString();
  const long = 'x'.repeat(600);

  test.each([
    ['the id first', `data: {"jsonrpc":"2.0","id":7,"result":"${long}"}\n\n`, 7],
    ['the id last', `event: message\ndata: {"result":"${long}","jsonrpc":"2.0","id":8}\n\n`, 8],
    ['the id after all', `data: {"result":"${long}","id":"a","jsonrpc":"2.0"}\r\n\r\n`, 'a'],
    ['no id', `data: {"method":"m","params":"${long}"}\n\n`, undefined],
  ])('an event that is too long is dropped with %s, and the next one passes', (_name, event, id) => {
    for (const step of [1, 7, 10_000]) {
      const { passed, rest, dropped } = run(`${event}data: y\n\n`, 500, step);
      // An additional empty line is not an event.
      expect({ passed: passed.trimStart(), rest, dropped }).toEqual({
        passed: 'data: y\n\n',
        rest: '',
        dropped: [id],
      });
    }
  });

  test('an event may be exactly as long as the limit', () => {
    expect(run('data: y\n\n', 9).dropped).toEqual([]);
    expect(run('data: y\n\n', 8)).toEqual({ passed: '', rest: '', dropped: [undefined] });
  });

  test('a line without end is not kept', () => {
    const cap = new EventSizeLimiter(1000, () => {});
    for (let at = 0; at < 1000; at++) expect(cap.feed(Buffer.alloc(1000, 'x'))).toEqual([]);
    expect(cap.flush()).toEqual([]);
  });

  test('however it is cut, a stream below the limit comes through unchanged, whole events first', () => {
    const event = fc
      .array(fc.constantFrom('data: a', ': note', 'id: 1', 'é', 'event: m'), { minLength: 1, maxLength: 4 })
      .chain((lines) => fc.constantFrom('\n', '\r\n', '\r').map((end) => `${lines.join(end)}${end}${end}`));
    fc.assert(
      fc.property(
        fc.array(event),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom('', 'data: cut'),
        (events, step, cut) => {
          const text = events.join('');
          const { passed, rest, dropped } = run(text + cut, 1000, step);
          expect(passed + rest).toBe(text + cut);
          expect(dropped).toEqual([]);
          expect(rest.endsWith(cut)).toBe(true);
        },
      ),
    );
  });
});

describe('tidy event', () => {
  const tidied = (event: string) => Buffer.from(normalizeEvent(Buffer.from(event))).toString();
  const right = '{"jsonrpc":"2.0","id":1,"result":{}}';

  test.each([
    `data: ${right}\n\n`,
    `event: message\r\nid: 7\r\ndata:${right}\r\n\r\n`,
    'event: endpoint\ndata: /message\n\n',
    'event: other\ndata: {"id":1,"result":{}}\n\n',
    'id: 1\ndata: \n\n',
    ': a comment\n\n',
    'data: no json\n\n',
    'data: {"ok":true}\n\n',
    'data: []\n\n',
  ])('%j stays what it is', (event) => {
    const bytes = Buffer.from(event);
    expect(normalizeEvent(bytes)).toBe(bytes);
  });

  test.each([
    ['data: {"jsonrpc":"2.0","id":1,"result":{},"error":null}\n\n', `data: ${right}\n\n`],
    [
      'id: 7\r\ndata: {"id":1,\r\ndata: "result":{}}\r\n\r\n',
      'id: 7\ndata: {"id":1,"result":{},"jsonrpc":"2.0"}\n\n',
    ],
    [`data: [${right},7,${right}]\n\n`, `data: ${right}\n\ndata: ${right}\n\n`],
  ])('%j is put right', (event, wanted) => {
    expect(tidied(event)).toBe(wanted);
  });

  test('an answer that cannot be written anew fails its request', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = tidied(`data: {"jsonrpc":"2.0","id":1,"result":{"a":${deep}},"more":1}\n\n`);
    expect(JSON.parse(answer.slice('data: '.length))).toMatchObject({ id: 1, error: { code: -32603 } });
  });

  test('whatever comes, it does not throw', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, text) => void [normalizeEvent(bytes), tidied(text)]),
    );
  });
});
