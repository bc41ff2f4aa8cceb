import { expect, test } from 'vitest';
import { HostError } from '../../../src/mcp/connection/host-error.ts';
import { isUnauthorized, troubleOf } from '../../../src/mcp/servers/trouble.ts';

const code = (it: string) => Object.assign(new Error('x'), { code: it });
const status = (it: number) => Object.assign(new Error('x'), { status: it });

test.each([
  ['an entry that is wrong', new HostError('bad-config', 's', 'x'), 'never'],
  [
    'a command that is not there',
    new HostError('spawn-failed', 's', 'x', { cause: code('ENOENT') }),
    'never',
  ],
  ['a file that is no program', new HostError('spawn-failed', 's', 'x', { cause: code('EACCES') }), 'never'],
  ['a process that ended', new HostError('spawn-failed', 's', 'x'), 'seldom'],
  ['a lost session', new HostError('session-lost', 's', 'x'), 'at-once'],
  ['a refusal of who we are', new HostError('unauthorized', 's', 'x'), 'never'],
  ['nobody there', new HostError('unreachable', 's', 'x', { retryAfterMs: 5 }), 'later'],
  ['silence', new HostError('timeout', 's', 'x'), 'later'],
  ['the unknown', 'what', 'later'],
])('%s', (_, failure, retry) => {
  const trouble = troubleOf(failure);
  expect(trouble.retry).toBe(retry);
  expect(trouble.retryAfterMs).toBe(failure instanceof HostError ? failure.retryAfterMs : undefined);
});

test.each([
  [new HostError('unauthorized', 's', 'x', { cause: status(401) }), true],
  [new HostError('unauthorized', 's', 'x'), true],
  [new HostError('unauthorized', 's', 'x', { cause: status(403) }), false],
  [new HostError('unreachable', 's', 'x'), false],
  [new Error('401'), false],
])('one thing that is forbidden says nothing of the rest: %s', (failure, expected) => {
  expect(isUnauthorized(failure)).toBe(expected);
});
