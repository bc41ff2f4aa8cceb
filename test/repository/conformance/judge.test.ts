import { expect, test } from 'vitest';
import { judge } from '../../../conformance/judge.ts';

const ok = { id: 'a', status: 'SUCCESS' };
const skipped = { id: 'b', status: 'SKIPPED' };
const info = { id: 'i', status: 'INFO' };
const failed = { id: 'c', name: 'C', status: 'FAILURE', errorMessage: 'no header\nmore' };
const warned = { id: 'd', status: 'WARNING', description: 'too late' };

test.each([
  ['checks that all succeed', [ok, ok, info], 'DONE\n', true, '2 checks'],
  ['what was skipped is told', [ok, skipped], 'DONE', true, '1 checks, 1 skipped'],
  ['one failure', [ok, failed], 'DONE', false, '1 checks passed; c (C): no header'],
  ['a warning', [ok, warned], 'DONE', false, '1 checks passed; d: too late'],
  ['a client that ended early', [ok], '', false, '1 checks passed; the client ended early: HostError: gone'],
  ['no check at all', [skipped, info], 'DONE', null, 'not counted: it made no check'],
  ['nothing written down', undefined, '', false, 'the suite could not run it'],
  [
    'many failures are told in part',
    Array.from({ length: 6 }, () => warned),
    'DONE',
    false,
    '0 checks passed; d: too late; d: too late; d: too late; d: too late; and 2 more',
  ],
] as const)('%s', (_, checks, stdout, pass, note) => {
  const stderr = 'file.ts:1\n  HostError: gone\n    at x\n\nNode.js v24';
  expect(judge('set', { scenario: 'one', checks, client: { stdout, stderr } })).toEqual({
    name: 'set one',
    pass,
    note,
    checks: (checks ?? []).filter((check) => check.status === 'SUCCESS').length,
  });
});

test('a server scenario has no client', () => {
  expect(judge('set', { scenario: 'one', checks: [ok] })).toMatchObject({ pass: true, note: '1 checks' });
});
