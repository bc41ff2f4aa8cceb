import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cancelFrame,
  decodeFrame,
  encodeFrame,
  failureFrame,
  type Incoming,
  readFrame,
  requestFrame,
  successFrame,
} from '../../src/protocol/control-frame.ts';

describe('control frame', () => {
  const BODY = { subtype: 'mcp_message', server_name: 'calc', message: {} };

  test.each<[string, unknown, Incoming]>([
    [
      'R48 a request',
      { type: 'control_request', request_id: 'r1', request: BODY },
      { kind: 'request', id: 'r1', subtype: 'mcp_message', body: BODY },
    ],
    [
      'C1 a request keyed by id',
      { type: 'control_request', id: 'r1', request: BODY },
      { kind: 'request', id: 'r1', subtype: 'mcp_message', body: BODY },
    ],
    [
      'request_id wins over id',
      { type: 'control_cancel_request', request_id: 'r1', id: 'r2' },
      { kind: 'cancel', id: 'r1' },
    ],
    [
      'a success without a body is an empty one',
      { type: 'control_response', response: { subtype: 'success', request_id: 'r1' } },
      { kind: 'response', id: 'r1', outcome: { ok: true, response: {}, extra: {} } },
    ],
    [
      'what stands beside the body is kept apart',
      {
        type: 'control_response',
        response: {
          subtype: 'success',
          request_id: 'r1',
          response: { a: 1 },
          pending_permission_requests: [],
        },
      },
      {
        kind: 'response',
        id: 'r1',
        outcome: { ok: true, response: { a: 1 }, extra: { pending_permission_requests: [] } },
      },
    ],
    [
      'a failure with a code',
      {
        type: 'control_response',
        response: { subtype: 'error', request_id: 'r1', error: 'no', error_code: 'c' },
      },
      { kind: 'response', id: 'r1', outcome: { ok: false, error: 'no', errorCode: 'c' } },
    ],
    [
      'a failure without a reason, or of an unknown kind',
      { type: 'control_response', response: { subtype: 'odd', request_id: 'r1' } },
      {
        kind: 'response',
        id: 'r1',
        outcome: { ok: false, error: 'the agent sent no error message', errorCode: undefined },
      },
    ],
    ['keep_alive', { type: 'keep_alive' }, { kind: 'keep-alive' }],
    [
      'an unknown type is a message',
      { type: 'command_lifecycle', x: 1 },
      { kind: 'message', message: { type: 'command_lifecycle', x: 1 } },
    ],
    ['no type at all is a message', { x: 1 }, { kind: 'message', message: { x: 1 } }],
    ['no object', [1], { kind: 'malformed', id: undefined, reason: 'a frame must be a JSON object' }],
    [
      'a request without an id cannot be answered',
      { type: 'control_request', request: BODY },
      { kind: 'malformed', id: undefined, reason: 'a control_request needs a request_id' },
    ],
    [
      'a request without a subtype can be',
      { type: 'control_request', request_id: 'r1', request: {} },
      { kind: 'malformed', id: 'r1', reason: 'a control_request needs a request with a subtype' },
    ],
    [
      'a response without a body',
      { type: 'control_response' },
      { kind: 'malformed', id: undefined, reason: 'a control_response needs a response with a request_id' },
    ],
    [
      'a cancel of nothing',
      { type: 'control_cancel_request' },
      { kind: 'malformed', id: undefined, reason: 'a control_cancel_request needs a request_id' },
    ],
  ])('%s', (_name, frame, expected) => {
    expect(readFrame(frame)).toEqual(expected);
  });

  test('C1 R49 lines equal those of the official SDK byte for byte', () => {
    expect(
      [
        requestFrame('id2', { subtype: 'set_model', model: 'a' }),
        successFrame('ask-1', { ok: true }),
        successFrame('ask-1', undefined),
        failureFrame('ask-1', 'text'),
        failureFrame('ask-1', 'Unsupported control request subtype: frobnicate', 'unsupported_request'),
        cancelFrame('id2'),
      ].map((frame) => JSON.stringify(frame)),
    ).toEqual([
      '{"request_id":"id2","type":"control_request","request":{"subtype":"set_model","model":"a"}}',
      '{"type":"control_response","response":{"subtype":"success","request_id":"ask-1","response":{"ok":true}}}',
      '{"type":"control_response","response":{"subtype":"success","request_id":"ask-1"}}',
      '{"type":"control_response","response":{"subtype":"error","request_id":"ask-1","error":"text"}}',
      '{"type":"control_response","response":{"subtype":"error","request_id":"ask-1","error":"Unsupported control request subtype: frobnicate","error_code":"unsupported_request"}}',
      '{"type":"control_cancel_request","request_id":"id2"}',
    ]);
  });

  const KINDS = ['request', 'response', 'cancel', 'keep-alive', 'message', 'malformed'];
  const frameLike = fc.record(
    {
      type: fc.constantFrom(
        'control_request',
        'control_response',
        'control_cancel_request',
        'keep_alive',
        'user',
      ),
      request_id: fc.jsonValue(),
      id: fc.jsonValue(),
      request: fc.oneof(fc.jsonValue(), fc.record({ subtype: fc.jsonValue() }, { requiredKeys: [] })),
      response: fc.oneof(
        fc.jsonValue(),
        fc.record({ subtype: fc.constantFrom('success', 'error'), request_id: fc.string() }),
      ),
    },
    { requiredKeys: [] },
  );

  test('any JSON value is parsed to one kind', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), frameLike), (value) => {
        expect(KINDS).toContain(readFrame(value).kind);
      }),
    );
  });

  test('written frames are read back', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue()).map((it) => ({ ...it, subtype: 'x' }));
    fc.assert(
      fc.property(fc.string(), body, (id, it) => {
        expect(readFrame(requestFrame(id, it))).toEqual({ kind: 'request', id, subtype: 'x', body: it });
        expect(readFrame(successFrame(id, it))).toEqual({
          kind: 'response',
          id,
          outcome: { ok: true, response: it, extra: {} },
        });
        expect(readFrame(cancelFrame(id))).toEqual({ kind: 'cancel', id });
      }),
    );
  });
});

describe('frame codec', () => {
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

  test('U+2028 is written raw, as in the official SDK', () => {
    expect(encodeFrame({ a: '\u2028' })).toBe('{"a":"\u2028"}');
  });

  test('a frame that is not serializable is rejected with its cause', () => {
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
});
