import { expect, test } from 'vitest';
import { lacking } from '../../chaos/explained.ts';
import type { ServerStatus } from '../../src/entry/host.ts';

const failed = (message?: string): ServerStatus => ({
  state: 'failed',
  since: 0,
  attempt: 1,
  stderr: [],
  ...(message !== undefined && { cause: { code: 'unreachable', message } }),
});

test.each<[string, ServerStatus | undefined, string | undefined]>([
  ['all a person needs', failed('MCP server "gh": nobody listens there; check "url"'), undefined],
  ['a server nobody knows', undefined, 'status() does not know "gh"'],
  ['one that is said to be fine', { ...failed(), state: 'connected' }, 'status() says "gh" is connected'],
  ['no cause', failed(), 'status() gives no cause for "gh"'],
  ['an empty cause', failed(' '), 'status() gives no cause for "gh"'],
  ['a cause without the name', failed('check the url'), 'the cause does not name "gh": check the url'],
  ['a cause of two lines', failed('gh: check\nit'), 'the cause is longer than a line: gh: check\nit'],
  ['a cause without advice', failed('gh: it closed'), 'the cause does not say what to do: gh: it closed'],
])('%s', (_, status, expected) => {
  expect(lacking('gh', status)).toBe(expected);
});
