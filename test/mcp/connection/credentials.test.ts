import { expect, test } from 'vitest';
import { credentialsOf } from '../../../src/mcp/connection/credentials.ts';
import { Secrets } from '../../../src/mcp/connection/secrets.ts';

const KEY = 'k3y-zq81-7741-value';
const RANDOM = 'Zm9vYmFyQmF6MTIzNDU2Nzg5MGFiYw';

test.each<[string, object, string[]]>([
  ['a variable named as a credential', { env: { MY_API_KEY: KEY } }, [KEY]],
  ['a password', { env: { PGPASSWORD: KEY } }, [KEY]],
  ['a header', { headers: { Authorization: `Bearer ${KEY}` } }, [`Bearer ${KEY}`]],
  ['a header of its own kind', { headers: { 'X-Api-Key': KEY } }, [KEY]],
  [
    'what Basic authentication encodes',
    { headers: { authorization: `Basic ${btoa(`me:${KEY}`)}` } },
    [`Basic ${btoa(`me:${KEY}`)}`, `me:${KEY}`, KEY],
  ],
  ['the token of an editor', { authToken: 'x'.repeat(8) }, ['x'.repeat(8)]],
  ['a generated value under any name', { env: { THING: RANDOM } }, [RANDOM]],
  [
    'a known form of key under any name',
    { env: { THING: 'ghp_0123456789abcdef' } },
    ['ghp_0123456789abcdef'],
  ],
  ['the password of a URL', { env: { DATABASE: `postgres://me:${KEY}@db:5432/x` } }, [KEY]],
  ['a parameter of the URL', { url: `https://x.example/mcp?profile=dev&api_key=${KEY}` }, [KEY]],
  ['a flag and its value', { args: ['--verbose', '--api-token', KEY, 'serve'] }, [KEY]],
  ['a flag with its value', { args: [`--token=${KEY}`] }, [KEY]],
  ['a variable for a container', { args: ['run', '-e', `API_KEY=${KEY}`, 'image'] }, [KEY]],
  ['a header for a bridge', { args: ['--header', `Authorization: Bearer ${KEY}`] }, [`Bearer ${KEY}`]],
])('%s is a credential', (_, entry, expected) => {
  expect(credentialsOf(entry)).toEqual(expect.arrayContaining(expected));
});

test.each<[string, object]>([
  ['a mode', { env: { NODE_ENV: 'production', LOG_LEVEL: 'verbose', DEBUG: 'enabled' } }],
  ['a place', { env: { HOME_DIR: '/home/someone/projects', HOST: 'localhost:8080', PORT: '123456' } }],
  ['a model', { env: { MODEL: 'claude-sonnet-4-5-20250929', REGION: 'eu-central-1' } }],
  ['an identifier', { env: { PROJECT_ID: '0b1c2d3e-1111-2222-3333-444455556666', GIT_SHA: 'a'.repeat(40) } }],
  ['a limit', { env: { MAX_TOKENS: '128000', TOKEN_LIMIT: '200000' } }],
  ['a file that holds one', { env: { TOKEN_FILE: '/run/secrets/token', AUTH_KEY: '/etc/keys/server.pem' } }],
  ['how to sign in', { env: { AUTH_MODE: 'interactive', AUTH_URL: 'https://login.example.com/oauth2' } }],
  [
    'a prefix or a name of a key',
    {
      env: {
        REDIS_KEY_PREFIX: 'session',
        PRIMARY_KEY: 'customer_id',
        SORT_KEY: 'created_at',
        AUTH_REALM: 'customers',
        AUTH_USER: 'reader',
        OAUTH_AUDIENCE: 'reports',
        AUTH_ENABLED: 'always',
        TOKEN_HEADER: 'X-Request',
      },
    },
  ],
  ['a header without one', { headers: { Accept: 'application/json', 'User-Agent': 'toolplane/1.0' } }],
  ['an address', { url: 'https://mcp.example.com/v1/mcp?profile=development' }],
  ['a command line', { args: ['-y', '@scope/some-server@1.2.3', '--directory', '/srv/data', '--port=8080'] }],
  [
    'keyboards and keywords',
    { env: { KEYBOARD_LAYOUT: 'dvorak', KEYWORDS: 'alpha,beta', PASSIVE: 'enabled' } },
  ],
])('%s is none', (_, entry) => {
  const message = { result: { text: JSON.stringify(entry) } };
  expect(new Secrets([], credentialsOf(entry)).maskMessage(message)).toBe(message);
});

test.each(['postgres', 'password', 'changeme', 'secret', 'object', '123456'])(
  'a password that is a common word is not masked everywhere: %s',
  (word) => {
    const message = { result: { description: `Ask a ${word} database`, type: word } };
    expect(new Secrets([word], [word]).maskMessage(message)).toBe(message);
  },
);
