import fc from 'fast-check';
import { expect, test } from 'vitest';
import { literalSecrets, maskEntry } from '../../../src/config/explain/mask-entry.ts';

const ref = (name: string) => `\${${name}}`;

test.each([
  ['a command stays', { command: 'npx', args: ['-y', 'x'] }, { command: 'npx', args: ['-y', 'x'] }],
  ['a variable of env is hidden', { env: { A: 'plain' } }, { env: { A: '[hidden]' } }],
  ['a reference stays', { env: { A: ref('TOKEN') } }, { env: { A: ref('TOKEN') } }],
  ['its default does not', { env: { A: ref('T:-hush') } }, { env: { A: ref('T:-…') } }],
  [
    'the scheme of a header stays',
    { headers: { Authorization: `Bearer ${ref('T')}`, X: 'Basic abc' } },
    { headers: { Authorization: `Bearer ${ref('T')}`, X: 'Basic [hidden]' } },
  ],
  [
    'literal text around a reference is hidden',
    { headers: { X: `a${ref('T')}b` } },
    { headers: { X: `[hidden]${ref('T')}[hidden]` } },
  ],
  [
    'the argument after --token is hidden',
    { args: ['--token', 'hush', '-v'] },
    { args: ['--token', '[hidden]', '-v'] },
  ],
  ['a flag that follows is none', { args: ['--token', '-v'] }, { args: ['--token', '-v'] }],
  [
    'a credential in a URL is hidden',
    { url: 'https://u:pw@x.example' },
    { url: 'https://u:[redacted]@x.example' },
  ],
  ['a limit stays', { timeout: 5, trust: true }, { timeout: 5, trust: true }],
  [
    'PEM text is hidden',
    { tls: { ca: '-----BEGIN CERTIFICATE-----', key: 'key.pem' } },
    { tls: { ca: '[PEM]', key: 'key.pem' } },
  ],
  ['the key of an editor is hidden', { authToken: 'hush' }, { authToken: '[hidden]' }],
  ['what is no entry is nothing', 'hush', {}],
])('%s', (_, raw, shown) => {
  expect(maskEntry(raw)).toEqual(shown);
});

test('hides all literal values in env, headers and authToken', () => {
  const secret = fc
    .string({ minLength: 12, maxLength: 40 })
    .filter((it) => !/[${}]/.test(it) && it.trim() === it);
  fc.assert(
    fc.property(secret, fc.constantFrom('', 'Bearer ', 'x '), (value, before) => {
      const text = before + value;
      const raw = {
        env: { A: text },
        headers: { B: text },
        authToken: text,
        args: ['--api-key', `v${value}`],
      };
      const shown = JSON.stringify(maskEntry(raw));
      expect(shown).not.toContain(JSON.stringify(value).slice(1, -1));
    }),
  );
});

test.each([
  ['a token of env', { env: { API_TOKEN: 'abcdefgh' } }, ['env.API_TOKEN']],
  ['not a word of env', { env: { NODE_ENV: 'production' } }, []],
  ['not a reference', { env: { API_TOKEN: ref('API_TOKEN') } }, []],
  ['a header', { headers: { Authorization: 'Bearer abcdefghij' } }, ['headers.Authorization']],
  ['an argument', { args: ['--api-key', 'x', '--password=hush'] }, ['args[1]', 'args[2]']],
  ['an address', { url: 'https://x.example/?key=abc' }, ['url']],
  ['nothing of what is no entry', null, []],
])('literal secrets: %s', (_, raw, found) => {
  expect(literalSecrets(raw)).toEqual(found);
});
