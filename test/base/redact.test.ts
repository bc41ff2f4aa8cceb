import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactedJson, redactText } from '../../src/base/redact.ts';

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
  ['all of env', { env: { PATH: '/bin', DEBUG: '1' } }, { env: { PATH: '[redacted]', DEBUG: '[redacted]' } }],
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
  ['Invalid token: expected a string', 'Invalid token: expected a string'],
])('%s', (text, masked) => {
  expect(redactText(text)).toBe(masked);
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
    `https://h/?token=${secret}`,
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

test('no planted secret survives, wherever it stands', () => {
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
        !/token|secret|pass|key|cred|auth|cookie|env|head|sk-|gh|xox|eyJ|bearer|basic|:\/\//i.test(
          JSON.stringify(it),
        ),
    );
  fc.assert(
    fc.property(plain, (value) => {
      expect(redactedJson(value)).toBe(JSON.stringify(value));
    }),
  );
});
