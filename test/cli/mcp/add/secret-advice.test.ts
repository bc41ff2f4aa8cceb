import { expect, test } from 'vitest';
import { secretAdvice } from '../../../../src/cli/mcp/add/secret-advice.ts';

const SECRET = 'ghp_0123456789abcdef0123';

test.each<[string, object, string, string]>([
  ['a variable', { command: 'x', env: { GITHUB_TOKEN: SECRET } }, 'env.GITHUB_TOKEN', 'GITHUB_TOKEN'],
  [
    'a header',
    { url: 'https://x', headers: { Authorization: `Bearer ${SECRET}` } },
    'headers.Authorization',
    'MY_HUB_TOKEN',
  ],
  ['an address', { url: `https://x/?token=${SECRET}` }, 'url', 'MY_HUB_TOKEN'],
  ['an argument', { command: 'x', args: ['--token', SECRET] }, 'args[1]', 'MY_HUB_TOKEN'],
])('%s that holds a secret is told of, with what to do instead', (_, entry, where, name) => {
  const advice = secretAdvice('my-hub', entry as Record<string, unknown>);
  expect(advice).toEqual([
    `${where} holds what looks like a secret; to keep it out of the file: toolplane secret set ${name}, and write \${secret:${name}} in its place`,
  ]);
  expect(advice.join()).not.toContain(SECRET);
});

test.each<[string, object]>([
  ['a reference', { command: 'x', env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } }],
  ['a secret of the store', { url: 'https://x', headers: { Authorization: 'Bearer ${secret:X}' } }],
  ['a plain value', { command: 'x', env: { DEBUG: '1' }, args: ['--port', '3000'] }],
])('%s is none', (_, entry) => {
  expect(secretAdvice('x', entry as Record<string, unknown>)).toEqual([]);
});
