import { expect, test } from 'vitest';
import { excerpt, HttpError, toNetworkError } from '../../../../src/mcp/transports/http/http-error.ts';

const failed = (code: string, message = 'no', more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

test.each([
  ['ECONNREFUSED', false],
  ['ENOTFOUND', false],
  ['UND_ERR_CONNECT_TIMEOUT', false],
  ['SELF_SIGNED_CERT_IN_CHAIN', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', false],
  ['ECONNRESET', true],
  ['UND_ERR_SOCKET', true],
  ['EPIPE', true],
])('after %s the request was sent: %s', (code, wasSent) => {
  expect(toNetworkError(failed(code))).toMatchObject({ name: 'HttpError', code, wasSent, hadSession: false });
});

test.each([
  ['EHOSTUNREACH', 'connect', false],
  ['EHOSTUNREACH', 'read', true],
  ['ENETUNREACH', 'write', true],
  ['ENETUNREACH', undefined, true],
  ['ETIMEDOUT', 'connect', false],
  ['ECONNRESET', 'read', true],
  ['ENOTFOUND', 'getaddrinfo', false],
  ['EPROTO', 'write', true],
  ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', undefined, true],
  ['UND_ERR_DESTROYED', undefined, true],
])('after %s of %s the request may have been sent: %s', (code, syscall, wasSent) => {
  const more = syscall === undefined ? {} : { syscall };
  expect(toNetworkError(failed(code, 'no', more))).toMatchObject({ code, wasSent });
  const several = Object.assign(new AggregateError([failed(code, 'no', more)]), { code });
  expect(toNetworkError(several)).toMatchObject({ code, wasSent });
});

test('what has no code of the system, and a fault that is one already, stay what they are', () => {
  const plain = new TypeError('x');
  const fault = new HttpError('y', { code: 'too-large', wasSent: true });
  expect([toNetworkError(plain), toNetworkError(fault)]).toEqual([plain, fault]);
});

test('a message names the code and no secret', () => {
  const { message } = toNetworkError(failed('ECONNRESET', 'bad Bearer abcdef123456')) as Error;
  expect(message).toBe('bad Bearer [redacted] (ECONNRESET)');
});

test.each([
  ['<html><style>p{}</style><h1>Log  in</h1>\n<script>x("</h1>")</script>here</html>', 'Log in here'],
  ['token=verysecret1 wrong', 'token=[redacted] wrong'],
  ['x'.repeat(300), `${'x'.repeat(200)}…`],
  [`<p>a key${' '.repeat(3000)}`, 'a key…'],
  ['', ''],
])('of %j a person is shown %j', (text, shown) => {
  expect(excerpt(text)).toBe(shown);
});
