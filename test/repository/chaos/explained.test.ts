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
  [
    'a cause with the name and a remedy',
    failed('MCP server "gh": connection refused; check "url"'),
    undefined,
  ],
  ['an unknown server', undefined, 'status() does not know "gh"'],
  ['a connected server', { ...failed(), state: 'connected' }, 'status() says "gh" is connected'],
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
  'gh: connection refused; start the server or check "url"',
  'gh: command not found: npx; install it or set an absolute path in "command"',
  'gh: its process exited; stderr: cannot start; run its command by hand to see why',
  'gh: the server was not ready within 4000 ms: no response to "initialize"; raise connectTimeoutMs if it is slow',
  'gh: the server failed (HTTP 500); check its log, or retry later',
  'gh: the server requires authentication; set "headers" of its entry',
  'gh: the issuer of its certificate is not trusted; add the certificate of the issuer under tls.ca',
  'gh: its certificate is for another host; set tls.serverName',
  'gh: the server redirects to another origin; if that is the server, make it the "url"',
  'gh: the server supports none of the protocol versions of this client; update the server or Toolplane',
  'gh: its entry is wrong. Correct the entry.',
  'gh: the token has expired; sign in',
  'gh: the server closed the connection; retrying in 2 s',
  'gh: the entry was corrected; reconnect the server',
])('contains advice: %s', (message) => {
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
  'gh: its process exited; stderr: error: set the token and run it again',
  'gh: cannot read properties of undefined (reading "add")',
])('contains no advice: %s', (message) => {
  expect(advises(message)).toBe(false);
});
