import { expect, test } from 'vitest';
import { advises, lacking } from '../../../chaos/explained.ts';
import type { ServerStatus } from '../../../src/entry/host.ts';

const failed = (message?: string): ServerStatus => ({
  state: 'failed',
  since: 0,
  attempt: 1,
  stderr: [],
  ...(message !== undefined && { cause: { code: 'unreachable', message, detail: message } }),
});

test.each<[string, ServerStatus | undefined, string | undefined]>([
  ['all a person needs', failed('MCP server "gh": nobody listens there; check "url"'), undefined],
  ['a server nobody knows', undefined, 'status() does not know "gh"'],
  ['one that is said to be fine', { ...failed(), state: 'connected' }, 'status() says "gh" is connected'],
  ['no cause', failed(), 'status() gives no cause for "gh"'],
  ['an empty cause', failed(' '), 'status() gives no cause for "gh"'],
  ['a cause without the name', failed('check the url'), 'the cause does not name "gh": check the url'],
  ['a cause with a word like it', failed('ghost: check it'), 'the cause does not name "gh": ghost: check it'],
  ['a cause of two lines', failed('"gh": check\nit'), 'the cause is longer than a line: "gh": check\nit'],
  ['a cause without advice', failed('"gh": it closed'), 'the cause does not say what to do: "gh": it closed'],
])('%s', (_, status, expected) => {
  expect(lacking('gh', status)).toBe(expected);
});

test.each([
  'check the network',
  'gh: nobody listens there; start the server or check "url"',
  'gh: its command is not found: npx; install it or give its full path',
  'gh: its process ended; it said: cannot start; see why, or run its command by hand',
  'gh: it was not ready within 4000 ms: it did not answer "initialize"; raise connectTimeoutMs if it is slow',
  'gh: it failed (HTTP 500); look into its log, or ask again later',
  'gh: it wants credentials; set "headers" of its entry',
  'gh: its certificate is signed by nobody known here; add its CA under tls.ca',
  'gh: its certificate is for another host; set tls.serverName',
  'gh: it redirects to another origin; if that is the server, make it the "url"',
  'gh: it speaks no version of the protocol that we do; update it, or this program',
  'gh: its entry is wrong. Correct the entry.',
  'gh: it wants to know who you are; sign in',
  'gh: the other side closed the connection; retrying in 2 s',
  'gh: that was mended; reconnect it',
])('that is advice: %s', (message) => {
  expect(advises(message)).toBe(true);
});

test.each([
  'gh: it closed',
  'gh: the check failed',
  'gh: check failed',
  'gh: check',
  'gh: run failed: exit code 1',
  'gh: start: no such file',
  'gh: GITHUB_TOKEN is not set',
  'gh: it cannot start or run the command',
  'gh: it could not add its listener, see the rest',
  'gh: we cannot see what it wants',
  'gh: it may be asked again',
  'gh: it is tried again and again',
  'gh: it is not dialled again',
  'gh: retrying',
  'gh: wait',
  'gh: use of a closed network connection',
  'gh: it made the stream end',
  'gh: it asked us to wait; a new one is made',
  'gh: make',
  'gh: it took the turn of another',
  'gh: Look',
  'gh: sign in failed',
  'gh: its process ended; it said: error: set the token and run it again',
  'gh: cannot read properties of undefined (reading "add")',
])('that is none: %s', (message) => {
  expect(advises(message)).toBe(false);
});
