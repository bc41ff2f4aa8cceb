import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { classifyConnectFailure } from '../../../src/mcp/errors/connect-failure.ts';
import { HostError } from '../../../src/mcp/errors/host-error.ts';

const failure = (more: object, message = 'it') => Object.assign(new Error(message), more);

describe('while connecting', () => {
  const last = { isProcess: true, isUnanswered: true, stderr: ['no config', '(exited with code 3)'] };
  test.each([
    [
      'no such command',
      failure({ code: 'ENOENT', syscall: 'spawn /no/such' }),
      'spawn-failed',
      /not found: \/no\/such; install it/,
    ],
    [
      'a command that may not run',
      failure({ code: 'EACCES', syscall: 'spawn /etc/hosts' }),
      'spawn-failed',
      /cannot be run \(EACCES\): \/etc\/hosts/,
    ],
    [
      'an early end',
      new SdkError(SdkErrorCode.ConnectionClosed, 'x'),
      'spawn-failed',
      /exited before it was ready; stderr: no config \| \(exited with code 3\)/,
    ],
    [
      'a death of the question',
      new SdkError(SdkErrorCode.EraNegotiationFailed, 'x'),
      'spawn-failed',
      /exited before it was ready/,
    ],
    [
      'an end right after the greeting',
      new HostError('closed', 'srv', 'gone'),
      'spawn-failed',
      /exited before it was ready/,
    ],
    [
      'a refusal',
      failure({ code: -32600 }, 'not today'),
      'unreachable',
      /rejected the connection: not today/,
    ],
    ['another version', failure({ code: -32022 }), 'unreachable', /none of the protocol versions/],
    [
      'no listener',
      new TypeError('fetch failed', { cause: failure({ code: 'ECONNREFUSED' }) }),
      'unreachable',
      /connection refused/,
    ],
  ])('%s', (_, thrown, code, words) => {
    const told = classifyConnectFailure('srv', thrown, last);
    expect(told).toMatchObject({ name: 'HostError', code, hasRun: 'no', cause: thrown });
    expect(told.message).toMatch(words);
  });

  test.each([
    ['refuses', failure({ code: -32600 }, 'no\n'.repeat(1_000_000))],
    ['is of an unknown era', new SdkError(SdkErrorCode.EraNegotiationFailed, 'no\n'.repeat(1_000_000))],
    ['fails otherwise', failure({ code: 'odd' }, 'no\n'.repeat(1_000_000))],
  ])('a long reason of one that %s is truncated to one line', (_, thrown) => {
    const { message } = classifyConnectFailure('srv', thrown, { ...last, isUnanswered: false });
    expect(message).toMatch(/no no no.*…/);
    expect(message.length).toBeLessThan(450);
    expect(message).not.toContain('\n');
  });

  test('a server that is said to be of another era is told so', () => {
    const thrown = new SdkError(SdkErrorCode.EraNegotiationFailed, 'it did not offer it');
    expect(classifyConnectFailure('srv', thrown, { ...last, isUnanswered: false })).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('set "era" to "legacy" in its entry'),
    });
  });
});
