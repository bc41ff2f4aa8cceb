import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLockFile } from '../../../../src/mcp/transports/ide/lock-file.ts';

const good = { pid: 7, workspaceFolders: ['/a'], ideName: 'Ed', transport: 'ws', authToken: 't0' };

test('a lock file is read with the port of its name', () => {
  expect(readLockFile('4242.lock', JSON.stringify({ ...good, more: 1 }))).toEqual({ port: 4242, ...good });
});

test('an editor that says less speaks SSE, has a plain name and no token', () => {
  expect(readLockFile('1.lock', '{"pid":7,"workspaceFolders":["/a",5,""]}')).toEqual({
    port: 1,
    pid: 7,
    transport: 'sse',
    workspaceFolders: ['/a'],
    ideName: 'editor',
    authToken: undefined,
  });
});

test.each([
  ['x.lock', good],
  ['70000.lock', good],
  ['0.lock', good],
  ['12.lock.bak', good],
  ['1.lock', { ...good, pid: -1 }],
  ['1.lock', { ...good, pid: '7' }],
  ['1.lock', { ...good, transport: 'tcp' }],
  ['1.lock', { ...good, workspaceFolders: '/a' }],
  ['1.lock', { ...good, authToken: 'a\r\nHost: b' }],
  ['1.lock', { ...good, authToken: 5 }],
  ['1.lock', []],
])('%s with %j is none', (name, value) => {
  expect(readLockFile(name, JSON.stringify(value))).toBeUndefined();
});

test('nothing a file may hold makes it throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      readLockFile('1.lock', text);
    }),
  );
});
