import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { placeOf } from '../../../src/pool/pinning/place-of.ts';

const NPX: ServerEntry = { command: 'npx', args: ['-y', '@scope/server'] };
const same = (one: ServerEntry, other: ServerEntry, cwds: [string, string] = ['/a', '/a']) =>
  placeOf(one, cwds[0]) === placeOf(other, cwds[1]);

test.each<[string, ServerEntry, ServerEntry]>([
  ['another environment', NPX, { ...NPX, env: { TOKEN: 'x' } }],
  ['a type that is said', NPX, { ...NPX, type: 'stdio' }],
  ['trust and time limits', NPX, { ...NPX, trust: true, timeout: 5_000 }],
  [
    'other credentials',
    { type: 'http', url: 'https://x/mcp' },
    { type: 'http', url: 'https://x/mcp', headers: { Authorization: 'x' } },
  ],
  ['http or sse', { type: 'sse', url: 'https://x/mcp' }, { url: 'https://x/mcp' }],
  [
    'an editor on another port',
    { type: 'ws-ide', url: 'ws://127.0.0.1:1', ideName: 'code' },
    { type: 'ws-ide', url: 'ws://127.0.0.1:2', ideName: 'code' },
  ],
])('the same server: %s', (_, one, other) => {
  expect(same(one, other)).toBe(true);
});

test.each<[string, ServerEntry, ServerEntry]>([
  ['another command', NPX, { ...NPX, command: 'bunx' }],
  ['other arguments', NPX, { ...NPX, args: ['-y', '@scope/evil'] }],
  ['another directory of its own', { ...NPX, cwd: '/a' }, { ...NPX, cwd: '/b' }],
  ['another address', { url: 'https://x/mcp' }, { url: 'https://y/mcp' }],
  ['a process and an address', NPX, { url: 'https://x/mcp' }],
])('another server: %s', (_, one, other) => {
  expect(same(one, other)).toBe(false);
});

test('where the host runs counts only for a command that names a file there', () => {
  expect(same(NPX, NPX, ['/a', '/b'])).toBe(true);
  for (const args of [['./server'], ['server.mjs'], ['src/main.py'], ['..'], ['run', 'x.ts']]) {
    expect(same({ command: 'x', args }, { command: 'x', args }, ['/a', '/b'])).toBe(false);
    expect(same({ command: 'x', args }, { command: 'x', args }, ['/a', '/a'])).toBe(true);
  }
  const absolute = { command: 'node', args: ['/srv/server.mjs'] };
  expect(same(absolute, absolute, ['/a', '/b'])).toBe(true);
  // What is put in names the directory.
  const open = { command: 'node', args: ['${ROOT}/server.mjs'] };
  expect(same(open, open, ['/a', '/b'])).toBe(true);
});

test('servers of the program have no place, and a place tells nothing of secrets', () => {
  expect(placeOf({ type: 'sdk', name: 'x' }, '/a')).toBeUndefined();
  expect(placeOf({ ...NPX, args: ['--token=sesame'] }, '/a')).toMatch(/^[\w-]{43}$/);
});
