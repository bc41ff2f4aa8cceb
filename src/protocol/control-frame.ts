import { isRecord } from '../base/json-value.ts';
import { messageOf, SdkError } from './sdk-error.ts';

/** One JSON object of the control protocol. */
export type Frame = { readonly [key: string]: unknown };

/** A parsed frame. `malformed` keeps the id if there is one, so that the request can be answered. */
export type Incoming =
  | { kind: 'request'; id: string; subtype: string; body: Frame }
  | { kind: 'response'; id: string; outcome: ResponseOutcome }
  | { kind: 'cancel'; id: string }
  | { kind: 'keep-alive' }
  | { kind: 'message'; message: Frame }
  | { kind: 'malformed'; id: string | undefined; reason: string };

export type ResponseOutcome =
  | { ok: true; response: Frame; extra: Frame }
  | { ok: false; error: string; errorCode: string | undefined };

/** Parses one frame. Never throws: frames of unknown types are messages (C1: `id` is read where `request_id` is missing). */
export function readFrame(value: unknown): Incoming {
  if (!isRecord(value)) return { kind: 'malformed', id: undefined, reason: 'a frame must be a JSON object' };
  switch (value.type) {
    case 'control_request':
      return readRequest(value);
    case 'control_response':
      return readResponse(value);
    case 'control_cancel_request': {
      const id = idOf(value);
      return id === undefined
        ? { kind: 'malformed', id, reason: 'a control_cancel_request needs a request_id' }
        : { kind: 'cancel', id };
    }
    case 'keep_alive':
      return { kind: 'keep-alive' };
    default:
      return { kind: 'message', message: value };
  }
}

/** The order of members is that of the official SDK, so that frames can be compared byte for byte. */
export function requestFrame(id: string, request: Frame): Frame {
  return { request_id: id, type: 'control_request', request };
}

export function successFrame(id: string, response: Frame | undefined): Frame {
  return {
    type: 'control_response',
    response: response
      ? { subtype: 'success', request_id: id, response }
      : { subtype: 'success', request_id: id },
  };
}

export function failureFrame(id: string, error: string, errorCode?: string): Frame {
  return {
    type: 'control_response',
    response: errorCode
      ? { subtype: 'error', request_id: id, error, error_code: errorCode }
      : { subtype: 'error', request_id: id, error },
  };
}

export function cancelFrame(id: string): Frame {
  return { type: 'control_cancel_request', request_id: id };
}

function readRequest(frame: Frame): Incoming {
  const id = idOf(frame);
  if (id === undefined) return { kind: 'malformed', id, reason: 'a control_request needs a request_id' };
  const body = frame.request;
  if (!isRecord(body) || typeof body.subtype !== 'string') {
    return { kind: 'malformed', id, reason: 'a control_request needs a request with a subtype' };
  }
  return { kind: 'request', id, subtype: body.subtype, body };
}

function readResponse(frame: Frame): Incoming {
  const response = frame.response;
  const id = isRecord(response) ? idOf(response) : undefined;
  if (!isRecord(response) || id === undefined) {
    return {
      kind: 'malformed',
      id: undefined,
      reason: 'a control_response needs a response with a request_id',
    };
  }
  if (response.subtype === 'success') {
    const { subtype: _s, request_id: _r, response: inner, ...extra } = response;
    return { kind: 'response', id, outcome: { ok: true, response: isRecord(inner) ? inner : {}, extra } };
  }
  return {
    kind: 'response',
    id,
    outcome: {
      ok: false,
      error: typeof response.error === 'string' ? response.error : 'the agent sent no error message',
      errorCode: typeof response.error_code === 'string' ? response.error_code : undefined,
    },
  };
}

function idOf(frame: Frame): string | undefined {
  if (typeof frame.request_id === 'string') return frame.request_id;
  return typeof frame.id === 'string' ? frame.id : undefined;
}

export function encodeFrame(frame: Frame): string {
  try {
    return JSON.stringify(frame);
  } catch (cause) {
    throw new SdkError('unsendable', `A frame cannot be serialized as JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Parses a line; undefined if it is not a JSON object, such as output of a library. */
export function decodeFrame(line: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
