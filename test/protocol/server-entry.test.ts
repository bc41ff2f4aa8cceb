import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkWritten,
  findEntryError,
  unknownMembers,
  unknownType,
} from '../../src/protocol/server-entry.ts';

describe('server entry', () => {
  test.each<[string, object]>([
    ['R20 stdio without a type', { command: 'node' }],
    [
      'R20 stdio with everything',
      { type: 'stdio', command: 'node', args: ['a'], env: { A: '1' }, timeout: 5 },
    ],
    ['R21 sse', { type: 'sse', url: 'https://h/sse', headers: { a: 'b' } }],
    ['R22 http', { type: 'http', url: 'http://h/mcp', tools: [{ name: 't' }] }],
    ['R156 ws', { type: 'ws', url: 'wss://h' }],
    ['a url without a type', { url: 'https://h/mcp', headersHelper: 'tool', tls: { ca: '/ca.pem' } }],
    ['an editor that is looked for', { type: 'ws-ide' }],
    ['R157 an editor that is named', { type: 'sse-ide', url: 'http://127.0.0.1:1/sse', authToken: 't' }],
    [
      'what only our host reads',
      {
        command: 'x',
        cwd: '/d',
        start: 'on-demand',
        required: true,
        trust: false,
        era: 'legacy',
        connectTimeoutMs: 1,
        idleTimeoutMs: 1,
        toolTimeoutsMs: { t: 1 },
        includeTools: ['get_*'],
        excludeTools: [],
        maxFrameBytes: 1,
      },
    ],
    ['R31 unknown members pass', { command: 'x', future: true }],
  ])('%s is passed on unchanged', (_name, entry) => {
    expect(checkWritten('k', entry)).toBe(entry);
  });

  const TLS = '"tls" may have ca, cert, key and serverName, each a string; verification cannot be turned off';

  test.each<[unknown, string]>([
    [null, 'the entry must be an object: an sdk server, or a stdio, http, sse or ws entry'],
    ['node x', 'the entry must be an object: an sdk server, or a stdio, http, sse or ws entry'],
    [{}, 'a stdio server needs "command", any other server needs "url"; the entry has neither'],
    [{ type: 'stdio' }, 'a stdio server needs "command", a non-empty string'],
    [{ command: '' }, 'a stdio server needs "command", a non-empty string'],
    [{ command: 123 }, 'a stdio server needs "command", a non-empty string'],
    [{ command: 'x', args: 'a' }, '"args" must be a list of strings'],
    [{ command: 'x', args: [1] }, '"args" must be a list of strings'],
    [{ command: 'x', env: { A: 1 } }, '"env" must map names to strings'],
    [{ command: 'x', timeout: 0 }, '"timeout" must be a number of milliseconds above 0'],
    [{ type: 'http' }, 'an http server needs "url", a full URL'],
    [{ type: 'sse', url: '/x' }, 'an sse server needs "url", a full URL'],
    [{ type: 'http', url: 'ftp://h' }, 'the url of an http server must start with http:// or https://'],
    [{ type: 'ws', url: 'http://h' }, 'the url of a ws server must start with ws:// or wss://'],
    [{ type: 'http', url: 'http://h', headers: ['a'] }, '"headers" must map names to strings'],
    [{ type: 'grpc' }, 'unknown type "grpc"; known are sdk, stdio, http, sse, ws, sse-ide, ws-ide'],
    [{ command: 'x', url: 'http://h' }, 'the entry has both "command" and "url"; remove one of them'],
    [
      { type: 'streamable-http', url: 'http://h' },
      'unknown type "streamable-http"; known are sdk, stdio, http, sse, ws, sse-ide, ws-ide; did you mean "http"?',
    ],
    [{ url: 'h' }, 'an http server needs "url", a full URL'],
    [{ url: 'ws://h' }, '"url" is a WebSocket URL; set "type" to "ws"'],
    [{ type: 'ws-ide', url: 'http://h' }, 'the url of a ws-ide server must start with ws:// or wss://'],
    [{ type: 'sse-ide', url: 1 }, 'an sse-ide server needs "url", a full URL'],
    [{ command: 'x', cwd: '' }, '"cwd" must be a non-empty string'],
    [{ url: 'http://h', headersHelper: ['a'] }, '"headersHelper" must be a non-empty string'],
    [{ url: 'http://h', tls: { ca: 1 } }, TLS],
    [{ url: 'http://h', tls: { rejectUnauthorized: 'no' } }, TLS],
    [{ url: 'http://h', tls: 'ca.pem' }, TLS],
    [{ type: 'ws-ide', authToken: 5 }, '"authToken" must be a non-empty string'],
    [{ command: 'x', start: 'late' }, '"start" must be "on-demand" or omitted'],
    [{ command: 'x', required: 'yes' }, '"required" must be true or false'],
    [{ command: 'x', era: 'old' }, '"era" must be "auto", "legacy" or "modern"'],
    [{ command: 'x', connectTimeoutMs: '1' }, '"connectTimeoutMs" must be a number of milliseconds above 0'],
    [{ command: 'x', includeTools: 'get_*' }, '"includeTools" must be a list of tool names'],
    [{ url: 'http://x', excludeTools: [''] }, '"excludeTools" must be a list of tool names'],
    [
      { command: 'x', toolTimeoutsMs: { t: 0 } },
      '"toolTimeoutsMs" must map tool names to milliseconds above 0',
    ],
    [{ command: 'x', maxFrameBytes: -1 }, '"maxFrameBytes" must be a number of bytes above 0'],
  ])('%j is rejected with its key and the error', (entry, fault) => {
    expect(() => checkWritten('k', entry)).toThrow(
      expect.objectContaining({ code: 'bad-server', server: 'k', message: `mcpServers["k"]: ${fault}` }),
    );
  });

  test('unknown members are found, with the closest known ones', () => {
    expect(
      unknownMembers({ command: 'x', args: [], enviroment: {}, timeoutMs: 5, connectTimeout: 1, zzz: 1 }),
    ).toEqual([
      { name: 'enviroment' },
      { name: 'timeoutMs', suggestion: 'timeout' },
      { name: 'connectTimeout', suggestion: 'connectTimeoutMs' },
      { name: 'zzz' },
    ]);
  });

  test.each<[unknown, string | undefined]>([
    [[], undefined],
    [{}, undefined],
    [{ type: 'stdio' }, 'command'],
    [{ command: 'x', url: 'http://h' }, 'url'],
    [{ type: 'grpc' }, 'type'],
    [{ type: 'http', url: '/x' }, 'url'],
    [{ command: 'x', env: { A: 1 } }, 'env'],
  ])('the error of %j points at %s', (entry, member) => {
    expect(findEntryError(entry)).toEqual({ ...(member && { member }), message: expect.any(String) });
  });

  test('a valid entry has no error', () => {
    expect(findEntryError({ command: 'x' })).toBeUndefined();
  });
});

describe('entries before substitution', () => {
  test.each<[string, unknown]>([
    ['a url that becomes one', { url: '${BASE}/mcp' }],
    ['a port', { type: 'http', url: 'http://127.0.0.1:${PORT}/mcp' }],
    ['a socket', { type: 'ws', url: '${BASE}' }],
    ['an editor', { type: 'ws-ide', url: 'ws://127.0.0.1:${PORT}' }],
    ['an escape', { url: '$${odd}' }],
    ['a command', { command: '${BIN}', args: ['${A}'], env: { A: '${A' }, cwd: '${DIR}' }],
    ['nothing to put in', { url: 'https://example.test/mcp', headers: { A: 'b' } }],
  ])('%s is accepted before substitution', (_, raw) => {
    expect(checkWritten('a', raw)).toBe(raw);
  });

  test.each<[string, unknown, string]>([
    ['another type', { command: 'x', args: '${A}' }, '"args" must be a list of strings'],
    ['a member that is not expanded', { command: 'x', timeout: '${MS}' }, '"timeout" must be a number'],
    ['a type that is to be put in', { type: '${T}', url: '${U}' }, 'unknown type "${T}"'],
    ['a scheme that stands there', { type: 'ws', url: 'https://${HOST}' }, 'start with ws:// or wss://'],
    ['a socket without its type', { url: 'wss://${HOST}' }, 'set "type" to "ws"'],
    ['a url that is whole and none', { url: 'nowhere' }, 'a full URL'],
    ['no entry', '${ENTRY}', 'the entry must be an object'],
    ['no url', { type: 'http' }, 'a full URL'],
  ])('%s is rejected before substitution', (_, raw, fault) => {
    expect(() => checkWritten('a', raw)).toThrow(fault);
  });
});

describe('unknown type', () => {
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
    [['sk-secret'], `"type" must be a string, but is a list; ${KNOWN}`],
    [{ token: 'sk-secret' }, `"type" must be a string, but is an object; ${KNOWN}`],
    [{ toString: 1 }, `"type" must be a string, but is an object; ${KNOWN}`],
    [null, `"type" must be a string, but is null; ${KNOWN}`],
    [123456, `"type" must be a string, but is a number; ${KNOWN}`],
    [true, `"type" must be a string, but is a boolean; ${KNOWN}`],
  ])('the error for type %j contains no secrets or control characters', (type, message) => {
    expect(unknownType(type)).toBe(message);
    if (type !== null) expect(findEntryError({ type })).toEqual({ member: 'type', message });
  });

  test('any value gives one short printable line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' })), (type) => {
        expect(unknownType(type)).toMatch(/^[\x20-\x7e]{1,200}$/);
      }),
    );
  });
});
