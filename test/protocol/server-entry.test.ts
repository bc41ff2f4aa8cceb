import { expect, test } from 'vitest';
import { checkExternalEntry } from '../../src/protocol/server-entry.ts';

test.each<[string, object]>([
  ['R20 stdio without a type', { command: 'node' }],
  ['R20 stdio with everything', { type: 'stdio', command: 'node', args: ['a'], env: { A: '1' }, timeout: 5 }],
  ['R21 sse', { type: 'sse', url: 'https://h/sse', headers: { a: 'b' } }],
  ['R22 http', { type: 'http', url: 'http://h/mcp', tools: [{ name: 't' }] }],
  ['R156 ws', { type: 'ws', url: 'wss://h' }],
  ['R31 unknown members pass', { command: 'x', future: true }],
])('%s is passed on as it was given', (_name, entry) => {
  expect(checkExternalEntry('k', entry)).toBe(entry);
});

test.each<[unknown, string]>([
  [null, 'it must be an object: an sdk server, or a stdio, http, sse or ws entry'],
  ['node x', 'it must be an object: an sdk server, or a stdio, http, sse or ws entry'],
  [{}, 'a stdio server needs "command", a non-empty string'],
  [{ command: '' }, 'a stdio server needs "command", a non-empty string'],
  [{ command: 123 }, 'a stdio server needs "command", a non-empty string'],
  [{ command: 'x', args: 'a' }, '"args" must be a list of strings'],
  [{ command: 'x', args: [1] }, '"args" must be a list of strings'],
  [{ command: 'x', env: { A: 1 } }, '"env" must map names to strings'],
  [{ command: 'x', timeout: 0 }, '"timeout" is a number of milliseconds above 0'],
  [{ type: 'http' }, 'a http server needs "url", a full URL'],
  [{ type: 'sse', url: '/x' }, 'a sse server needs "url", a full URL'],
  [{ type: 'http', url: 'ftp://h' }, 'the url of a http server starts with http:// or https://'],
  [{ type: 'ws', url: 'http://h' }, 'the url of a ws server starts with ws:// or wss://'],
  [{ type: 'http', url: 'http://h', headers: ['a'] }, '"headers" must map names to strings'],
  [{ type: 'grpc' }, 'unknown type "grpc"; known are sdk, stdio, http, sse, ws'],
])('%j is refused by the key and the fault', (entry, fault) => {
  expect(() => checkExternalEntry('k', entry)).toThrow(
    expect.objectContaining({ code: 'bad-server', server: 'k', message: `mcpServers["k"]: ${fault}` }),
  );
});
