import { expect, test } from 'vitest';
import { NO_HISTORY } from '../../../src/mcp/servers/retry-policy.ts';
import type { ServerState } from '../../../src/mcp/servers/server-state.ts';
import { statusOf, unavailableReason } from '../../../src/mcp/servers/server-status.ts';

const facts = { since: 7, attempt: 2, past: NO_HISTORY, stderr: ['a line'] };
const cause = { code: 'unreachable', message: 'MCP server "s": no', detail: 'no', retry: 'later' } as const;

const CASES: [string, ServerState, object, object | undefined][] = [
  [
    'waiting to be asked for',
    { ...facts, kind: 'pending', awaits: 'request' },
    { state: 'pending', since: 7, attempt: 2, stderr: ['a line'] },
    { code: 'timeout', detail: 'the server has not been started yet' },
  ],
  [
    'dialled again',
    { ...facts, kind: 'connecting', cause },
    {
      state: 'connecting',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      cause: { code: 'unreachable', message: 'MCP server "s": no', detail: 'no' },
    },
    { code: 'timeout', detail: 'the server is still connecting; last failure: no' },
  ],
  [
    'waiting for its next dial',
    { ...facts, kind: 'failed', cause, nextRetryAt: 4_500, era: 'modern' },
    {
      state: 'failed',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      era: 'modern',
      nextRetryAt: 4_500,
      cause: { code: 'unreachable', message: 'MCP server "s": no', detail: 'no' },
    },
    { code: 'unreachable', detail: 'no; retrying in 4 s' },
  ],
  [
    'in a storm',
    { ...facts, kind: 'failed', cause, nextRetryAt: 4_500, past: { ...NO_HISTORY, shortConnections: 5 } },
    {
      state: 'failed',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      nextRetryAt: 4_500,
      cause: { code: 'unreachable', message: 'MCP server "s": no', detail: 'no' },
    },
    {
      code: 'unreachable',
      detail:
        'its connections repeatedly fail shortly after they are established; last failure: no; retrying in 4 s',
    },
  ],
  [
    'given up',
    { ...facts, kind: 'failed', cause },
    {
      state: 'failed',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      cause: { code: 'unreachable', message: 'MCP server "s": no', detail: 'no' },
    },
    { code: 'unreachable', detail: 'no; reconnect the server to try again' },
  ],
  [
    'without credentials',
    { ...facts, kind: 'needs-auth', cause: { ...cause, code: 'unauthorized' } },
    {
      state: 'needs-auth',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      cause: { code: 'unauthorized', message: 'MCP server "s": no', detail: 'no' },
    },
    { code: 'unauthorized', detail: 'no; if the server is still not connected afterwards, reconnect it' },
  ],
  [
    'turned off',
    { ...facts, kind: 'disabled' },
    { state: 'disabled', since: 7, attempt: 2, stderr: ['a line'] },
    { code: 'disabled', detail: 'the server is disabled; enable it first' },
  ],
  [
    'connected',
    {
      ...facts,
      kind: 'connected',
      era: 'legacy',
      handshake: {
        era: 'legacy',
        protocolVersion: 'v',
        serverInfo: { name: 'n', version: '1' },
        instructions: 'Use it.',
        tools: 3,
      },
    },
    {
      state: 'connected',
      since: 7,
      attempt: 2,
      stderr: ['a line'],
      era: 'legacy',
      protocolVersion: 'v',
      serverInfo: { name: 'n', version: '1' },
      instructions: 'Use it.',
      tools: 3,
    },
    undefined,
  ],
];

test.each(CASES)('%s: the reason in messages', (_, state, status, why) => {
  expect(statusOf(state)).toEqual(status);
  expect(unavailableReason(state, 1_000)).toEqual(why);
});

test('current stderr takes precedence over the stored lines', () => {
  expect(statusOf(CASES[7]?.[1] as ServerState, ['now']).stderr).toEqual(['now']);
});
