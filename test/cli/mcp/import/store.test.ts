import { expect, test } from 'vitest';
import { extractSecrets } from '../../../../src/cli/mcp/import/store.ts';
import { isSecretName } from '../../../../src/config/secrets/secret-store.ts';

test('extracts credentials from env and headers, and nothing else', () => {
  const entry = {
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer abcdefghijkl', Accept: 'text/plain', 'X-Api-Key': '${KEY}' },
    env: { GITHUB_TOKEN: 'ghp_0123456789abcdef', REGION: 'eu-central-1' },
  };
  expect(extractSecrets('my server', entry)).toEqual({
    entry: {
      url: 'https://example.com/mcp',
      headers: {
        Authorization: '${secret:my-server-Authorization}',
        Accept: 'text/plain',
        'X-Api-Key': '${KEY}',
      },
      env: { GITHUB_TOKEN: '${secret:my-server-GITHUB_TOKEN}', REGION: 'eu-central-1' },
    },
    secrets: [
      { name: 'my-server-Authorization', value: 'Bearer abcdefghijkl' },
      { name: 'my-server-GITHUB_TOKEN', value: 'ghp_0123456789abcdef' },
    ],
  });
});

test('keeps a value with a reference, and unescapes an escaped one', () => {
  const env = { A_TOKEN: 'ghp_0123456789abcdef-${TEAM}', B_TOKEN: 'ghp_0123456789abcdef-$${x}' };
  expect(extractSecrets('s', { command: 'x', env })).toEqual({
    entry: { command: 'x', env: { ...env, B_TOKEN: '${secret:s-B_TOKEN}' } },
    secrets: [{ name: 's-B_TOKEN', value: 'ghp_0123456789abcdef-${x}' }],
  });
});

test.each(['ordinary', 'two words', '日本', '...', 'x'.repeat(200)])(
  'a server called %j has a secret of a usable name',
  (name) => {
    const { secrets } = extractSecrets(name, { command: 'x', env: { TOKEN: 'ghp_0123456789abcdef' } });
    expect(secrets.map((it) => isSecretName(it.name))).toEqual([true]);
  },
);
