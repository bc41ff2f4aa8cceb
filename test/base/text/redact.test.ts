import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCredentialName, redactedJson, redactText } from '../../../src/base/text/redact.ts';

describe('redact', () => {
  test.each<[string, unknown, unknown]>([
    ['a key that names a secret', { apiKey: 'hunter2' }, { apiKey: '[redacted]' }],
    [
      'snake, kebab and camel case',
      { api_key: 'a', 'x-api-key': 'b', secretAccessKey: 'c' },
      { api_key: '[redacted]', 'x-api-key': '[redacted]', secretAccessKey: '[redacted]' },
    ],
    ['a list below such a key', { tokens: ['a', ['b']] }, { tokens: ['[redacted]', ['[redacted]']] }],
    [
      'an object below such a key',
      { credentials: { user: 'u', age: 3 } },
      { credentials: { user: '[redacted]', age: 3 } },
    ],
    [
      'all of env',
      { env: { PATH: '/bin', DEBUG: '1' } },
      { env: { PATH: '[redacted]', DEBUG: '[redacted]' } },
    ],
    [
      'all of headers, as a map and as pairs',
      [{ headers: { a: 'b' } }, { headers: [['a', 'b']] }],
      [{ headers: { a: '[redacted]' } }, { headers: [['[redacted]', '[redacted]']] }],
    ],
    [
      'counts of tokens stay',
      { usage: { input_tokens: 10 }, max_tokens: 5 },
      { usage: { input_tokens: 10 }, max_tokens: 5 },
    ],
    [
      'short names of secrets',
      { auth: 'a', proxyAuth: 'b', pwd: 'c', db_pwd: 'd', bearer: 'e' },
      {
        auth: '[redacted]',
        proxyAuth: '[redacted]',
        pwd: '[redacted]',
        db_pwd: '[redacted]',
        bearer: '[redacted]',
      },
    ],
    ['the redirect of a sign-in', { callbackUrl: 'code=4c90aa17' }, { callbackUrl: '[redacted]' }],
    [
      'an authorization code in a text, but no other code',
      { text: 'http://127.0.0.1:1/callback?state=s&code=4c90aa17-x&iss=i', page: '/help?code=404' },
      { text: 'http://127.0.0.1:1/callback?state=s&code=[redacted]&iss=i', page: '/help?code=404' },
    ],
    [
      'what is said about a secret stays',
      { apiKeySource: 'user', token_type: 'x', authMode: 'oauth', author: 'Ada', keyboard: 'qwerty' },
      { apiKeySource: 'user', token_type: 'x', authMode: 'oauth', author: 'Ada', keyboard: 'qwerty' },
    ],
    ['plain words stay', { tool: 'tokenizer', monkey: 'key' }, { tool: 'tokenizer', monkey: 'key' }],
    ['big integers are text', { n: 2n }, { n: '2' }],
  ])('%s', (_name, value, masked) => {
    expect(JSON.parse(redactedJson(value))).toEqual(masked);
  });

  test.each([
    ['key sk-ant-api03-abcdefgh rest', 'key sk-[redacted] rest'],
    ['ghp_abcdefghijklmnop1234', 'ghp_[redacted]'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [redacted]'],
    ['authorization: basic dXNlcjpwYXNz', 'authorization: basic [redacted]'],
    ['https://user:hunter2@host/x', 'https://user:[redacted]@host/x'],
    ['https://host/mcp?api_key=abc&x=1', 'https://host/mcp?api_key=[redacted]&x=1'],
    ['--token=abc --port=1', '--token=[redacted] --port=1'],
    ['{"password":"hunter2","n":1}', '{"password":"[redacted]","n":1}'],
    ['aws AKIAIOSFODNN7EXAMPLE and ASIAIOSFODNN7EXAMPLE', 'aws AKIA[redacted] and ASIA[redacted]'],
    [`google AIza${'Sy-_9'.repeat(7)} end`, 'google AIza[redacted] end'],
    ['glpat-abcdEFGH1234_x', 'glpat-[redacted]'],
    [`npm_${'aB3'.repeat(12)}`, 'npm_[redacted]'],
    [
      'a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n+/=\n-----END RSA PRIVATE KEY----- b',
      'a -----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY----- b',
    ],
    [
      '-----BEGIN PRIVATE KEY-----\nMIIE cut off',
      '-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----',
    ],
    [`curl -H "x-api-key: abc" h`, `curl -H "x-api-key: [redacted]" h`],
    ['X-Api-Key: abc\nHost: h', 'X-Api-Key: [redacted]\nHost: h'],
    ['password: hunter2, then', 'password: [redacted], then'],
    ['password=hunter2;x', 'password=[redacted];x'],
    ['password = "correct horse" x', 'password = "[redacted]" x'],
    ['Server=h;Uid=u;Pwd=hunter2;', 'Server=h;Uid=u;Pwd=[redacted];'],
    ["{'api_key': 'abc', 'n': 1}", "{'api_key': '[redacted]', 'n': 1}"],
    ['https://h/v1?key=abc&x=1', 'https://h/v1?key=[redacted]&x=1'],
    ['https://h/v1?x=1&key=abc#top', 'https://h/v1?x=1&key=[redacted]#top'],
    ['https://h/?access_token=abc', 'https://h/?access_token=[redacted]'],
    ['https://u:p@ss@host/x?mail=a@b', 'https://u:[redacted]@host/x?mail=a@b'],
    ['["https://u:p@h","a@b"]', '["https://u:[redacted]@h","a@b"]'],
    ['{"token":"a \\" b"}', '{"token":"[redacted]"}'],
    ['"{\\"token\\":\\"abc\\"}"', '"{\\"token\\":\\"[redacted]\\"}"'],
  ])('%s', (text, masked) => {
    expect(redactText(text)).toBe(masked);
  });

  test.each([
    'Invalid token: expected a string',
    'keyboard: qwerty, monkey=1, https://h/?monkey=1',
    'apiKeySource: none',
    '"apiKeySource":"user"',
    'PWD=/home/ada npm_config_registry=https://packages.example npm_package_version=1.0.0',
    'AKIA is a prefix, AIza too',
    '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
    'git@github.com:a/b and https://host:8080/a@b',
  ])('ordinary text stays: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  /** A secret no other part of the value can contain by chance. */
  const mark = fc.stringMatching(/^[A-Za-z0-9]{20,30}$/).map((it) => `Zq9${it}`);
  const secretKey = fc.constantFrom(
    'token',
    'API_KEY',
    'clientSecret',
    'password',
    'x-api-key',
    'accessToken',
    'private_key',
    'Authorization',
    'cookie',
    'auth',
    'db_pwd',
    'bearer',
    'env',
    'headers',
  );
  const planted = mark.chain((secret) => {
    const shaped = fc.constantFrom(
      `sk-${secret}`,
      `ghp_${secret}`,
      `xoxb-${secret}`,
      `Bearer ${secret}`,
      `Basic ${secret}`,
      `eyJ${secret}.${secret}.${secret}`,
      `https://u:${secret}@h/`,
      `https://u:p@${secret}@h/`,
      `https://h/?token=${secret}`,
      `https://h/?a=b&key=${secret}`,
      `glpat-${secret}`,
      `x-api-key: ${secret}`,
      `password: ${secret}`,
      `{'api_key': '${secret}'}`,
      `{"secret": "${secret}"}`,
    );
    const texts = fc
      .tuple(fc.constantFrom('', 'a ', 'x: '), shaped, fc.constantFrom('', ' b', '\n'))
      .map((it) => it.join(''));
    const named = fc.tuple(
      secretKey,
      fc.constantFrom(secret, [secret], { value: secret }, { deep: [{ er: secret }] }),
    );
    const leaf = fc.oneof(
      texts,
      named.map(([key, value]) => ({ [key]: value })),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'content', 'text', 'args'), tie('tree'), { minKeys: 1 }),
      ),
    }));
    return fc.tuple(fc.constant(secret), tree);
  });

  test('masks secrets at any position', () => {
    fc.assert(
      fc.property(planted, ([secret, value]) => {
        expect(redactedJson(value)).not.toContain(secret);
      }),
    );
  });

  test('a value without secrets is unchanged', () => {
    const plain = fc
      .jsonValue()
      .filter(
        (it) =>
          !/token|secret|pass|pwd|key|cred|auth|cookie|env|head|sk-|gh|xox|eyJ|bearer|basic|:\/\//i.test(
            JSON.stringify(it),
          ),
      );
    fc.assert(
      fc.property(plain, (value) => {
        expect(redactedJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });
});

describe('is credential name', () => {
  test.each([
    'API_KEY',
    'GITHUB_TOKEN',
    'githubToken',
    'PGPASSWORD',
    'DB_PASS',
    'CLIENT_SECRET',
    'BASIC_AUTH',
    'AUTH_HEADER',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'AWS_CREDS',
    'GITHUB_PAT',
    'SENTRY_DSN',
    'MYSQL_PWD',
    'SESSION_COOKIE',
  ])('%s names a credential', (name) => {
    expect(isCredentialName(name)).toBe(true);
  });

  test.each(['HOME', 'PATH', 'PWD', 'USER', 'GIT_AUTHOR_NAME', 'HOST', 'PATTERN', 'SPINNER', 'LANG'])(
    '%s does not name a credential',
    (name) => {
      expect(isCredentialName(name)).toBe(false);
    },
  );
});
