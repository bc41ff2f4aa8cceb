import { expect, test } from 'vitest';
import { listSecrets, secretTable } from '../../../src/cli/secret/secret-list.ts';

const ENTRIES: [string, object][] = [
  ['web', { url: 'https://example.test', headers: { A: '${secret:b}', B: '${X:-${secret:new}}' } }],
  ['files', { command: 'x', args: ['${secret:b}', '$${secret:a}', '${secret:'], env: { A: '${secret:b}' } }],
];

test('each secret is listed with the servers that refer to it, and what is referred to but not kept', () => {
  expect(listSecrets(['b', 'a'], ENTRIES)).toEqual({
    secrets: [
      { name: 'a', servers: [] },
      { name: 'b', servers: ['files', 'web'] },
    ],
    missing: [{ name: 'new', servers: ['web'] }],
  });
});

test('the table has a line for each', () => {
  const list = listSecrets(['b', 'a'], ENTRIES);
  expect(secretTable(list, undefined, 'known')).toEqual([
    'secret  used by',
    'a       no server',
    'b       files, web',
  ]);
  expect(secretTable(list, undefined, 'unknown')[1]).toBe('a       ?');
});
