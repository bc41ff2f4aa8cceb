import { expect, test } from 'vitest';
import { checkWritten } from '../../src/protocol/check-written.ts';

test.each<[string, unknown]>([
  ['a url that becomes one', { url: '${BASE}/mcp' }],
  ['a port', { type: 'http', url: 'http://127.0.0.1:${PORT}/mcp' }],
  ['a socket', { type: 'ws', url: '${BASE}' }],
  ['an editor', { type: 'ws-ide', url: 'ws://127.0.0.1:${PORT}' }],
  ['an escape', { url: '$${odd}' }],
  ['a command', { command: '${BIN}', args: ['${A}'], env: { A: '${A' }, cwd: '${DIR}' }],
  ['nothing to put in', { url: 'https://example.test/mcp', headers: { A: 'b' } }],
])('%s passes as it is written', (_, raw) => {
  expect(checkWritten('a', raw)).toBe(raw);
});

test.each<[string, unknown, string]>([
  ['another type', { command: 'x', args: '${A}' }, '"args" must be a list of strings'],
  ['a member that is not expanded', { command: 'x', timeout: '${MS}' }, '"timeout" is a number'],
  ['a type that is to be put in', { type: '${T}', url: '${U}' }, 'unknown type "${T}"'],
  ['a scheme that stands there', { type: 'ws', url: 'https://${HOST}' }, 'starts with ws:// or wss://'],
  ['a socket without its type', { url: 'wss://${HOST}' }, 'its "type" is "ws"'],
  ['a url that is whole and none', { url: 'nowhere' }, 'a full URL'],
  ['no entry', '${ENTRY}', 'it must be an object'],
  ['no url', { type: 'http' }, 'a full URL'],
])('%s is refused before expansion', (_, raw, fault) => {
  expect(() => checkWritten('a', raw)).toThrow(fault);
});
