import { expect, test } from 'vitest';
import { explain, explainConnect } from '../../../src/host/connect/explain.ts';

const failure = (more: object, message = 'it') => Object.assign(new Error(message), more);

test.each([
  ['a refused token', failure({ code: 'CLIENT_HTTP_NOT_IMPLEMENTED', status: 401 }), 'unauthorized'],
  ['a forbidden resource', failure({ status: 403 }), 'unauthorized'],
  ['no answer in time', failure({ code: 'REQUEST_TIMEOUT' }), 'timeout'],
  ['a closed connection', failure({ code: 'CONNECTION_CLOSED' }), 'closed'],
  ['no network', new TypeError('fetch failed'), 'unreachable'],
  ['no error at all', 'just text', 'unreachable'],
])('%s is told apart', (_name, thrown, code) => {
  expect(explain('srv', thrown)).toMatchObject({ name: 'HostError', code, server: 'srv', cause: thrown });
});

test('the reason behind a failed fetch is part of the message', () => {
  const thrown = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  expect(explain('srv', thrown)).toMatchObject({
    message: 'MCP server "srv": fetch failed: connect ECONNREFUSED',
  });
});

test('a JSON-RPC error stays the server’s own, except while connecting', () => {
  const thrown = failure({ code: -32602 }, 'no such tool');
  expect(explain('srv', thrown)).toBe(thrown);
  expect(explainConnect('srv', thrown, '')).toMatchObject({
    code: 'unreachable',
    message: 'MCP server "srv": it refused to start: no such tool',
  });
});

test('a command that may not be run is told from one that is not there', () => {
  const thrown = failure({ code: 'EACCES', syscall: 'spawn /etc/hosts' });
  expect(explainConnect('srv', thrown, '')).toMatchObject({
    code: 'spawn-failed',
    message: 'MCP server "srv": its command cannot be run (EACCES): /etc/hosts',
  });
});
