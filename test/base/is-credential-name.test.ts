import { expect, test } from 'vitest';
import { isCredentialName } from '../../src/base/is-credential-name.ts';

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
  '%s names none',
  (name) => {
    expect(isCredentialName(name)).toBe(false);
  },
);
