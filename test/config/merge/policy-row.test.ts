import { describe, expect, test } from 'vitest';
import { readPolicy } from '../../../src/config/merge/policy.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';

const policyOf = (value: Record<string, unknown>) =>
  readPolicy([{ scope: 'managed', label: 'm', value, locate: () => undefined }]).policy;
const last = (value: Record<string, unknown>, entry: object) =>
  policyOf(value).forbids('x', entry as ExternalServerEntry) ?? 'allowed';

const command = (...serverCommand: string[]) => ({ serverCommand });
const address = (serverUrl: string) => ({ serverUrl });
const NPX = command('npx', '-y', 'tool');
const RUN = { command: 'npx', args: ['-y', 'tool'] };
const HUB = { type: 'http', url: 'https://hub.example.com/mcp' };
const ANY = address('https://hub.example.com/*');

describe('a headersHelper is a command', () => {
  const helped = { ...HUB, headersHelper: '/opt/token --short' };
  const not =
    'allowedMcpServers of m (the "headersHelper" of the entry is a command that is not listed; add it as "serverCommand" in a row of allowedMcpServers)';
  test.each([
    ['no commands listed', [ANY], 'allowed'],
    ['commands listed, but not this', [ANY, NPX], not],
    ['listed as one text', [ANY, command('/opt/token --short')], 'allowed'],
    ['listed word by word', [ANY, NPX, command('/opt/token', '--short')], 'allowed'],
    ['listed with other words', [ANY, command('/opt/token')], not],
    ['the server by name', [{ serverName: 'x' }, NPX], not],
    ['the address is not allowed', [address('https://a.example/*'), NPX], 'allowedMcpServers of m'],
  ])('%s', (_, allowedMcpServers, expected) => {
    expect(last({ allowedMcpServers }, helped)).toBe(expected);
  });

  test('is denied too', () => {
    for (const row of [command('/opt/token', '--short'), command('/opt/token --short')])
      expect(last({ deniedMcpServers: [row] }, helped)).toBe('deniedMcpServers[0] of m');
    expect(last({ deniedMcpServers: [command('/opt/token')] }, helped)).toBe('allowed');
  });

  test('is undecided before substitution', () => {
    const open = { ...HUB, headersHelper: `\${HELPER}` } as ExternalServerEntry;
    expect(policyOf({ allowedMcpServers: [ANY, NPX] }).judge('x', open)).toEqual({ kind: 'undecided' });
    expect(policyOf({ deniedMcpServers: [NPX] }).judge('x', open)).toEqual({ kind: 'undecided' });
    expect(policyOf({ allowedMcpServers: [ANY] }).judge('x', open)).toEqual({ kind: 'allowed' });
  });

  test('is ignored for stdio servers', () => {
    expect(last({ allowedMcpServers: [NPX] }, { ...RUN, headersHelper: 'x' })).toBe('allowed');
  });
});

describe('a command with variables that change what it runs does not match', () => {
  const allowed = { allowedMcpServers: [NPX] };
  const ruleFor = (shown: string) =>
    `allowedMcpServers of m (the entry sets ${shown}, which may change what its command runs; add the variable to "env" in the matching row of allowedMcpServers)`;
  test.each([
    'PATH',
    'Path',
    'HOME',
    'NODE_OPTIONS',
    'NODE_PATH',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_EXTRA_CA_CERTS',
    'LD_PRELOAD',
    'LD_AUDIT',
    'DYLD_INSERT_LIBRARIES',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'RUBYOPT',
    'PERL5OPT',
    'BASH_ENV',
    'ENV',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_KEY',
    'npm_config_registry',
    'npm_config__authToken',
    'UV_INDEX_URL',
    'UV_PUBLISH_TOKEN',
    'JAVA_HOME',
    'OPENSSL_CONF',
    'HTTPS_PROXY',
    'https_proxy',
    'XDG_CACHE_HOME',
    'GOTOOLCHAIN',
    'VIRTUAL_ENV',
    'R_PROFILE',
    'R_PROFILE_USER',
    'R_ENVIRON_USER',
    'R_LIBS_USER',
    'PLAYWRIGHT_DOWNLOAD_HOST',
    'PUPPETEER_DOWNLOAD_BASE_URL',
    'PIP_INDEX_URL',
    'DOCKER_HOST',
    'SOME_REGISTRY_URL',
    'SOME_PROXY_URL',
    'SOME_PLUGIN_URL',
    'SSL_HOST',
    'ANYTHING_NEW',
  ])('%s', (variable) => {
    const entry = { ...RUN, env: { TOKEN: 'x', [variable]: `\${ANY}` } };
    expect(last(allowed, entry)).toBe(ruleFor(variable));
    expect(policyOf(allowed).judge('x', entry)).toEqual({ kind: 'forbidden', rule: ruleFor(variable) });
    expect(last(allowed, { ...RUN, inheritEnv: [variable] })).toBe(ruleFor(variable));
    expect(last({ allowedMcpServers: [{ ...NPX, env: [variable] }] }, entry)).toBe('allowed');
  });

  test('does not show a name with control characters', () => {
    expect(last(allowed, { ...RUN, env: { 'LD_\u001b[2J': 'x' } })).toBe(
      ruleFor(
        'a variable whose name is longer than 64 characters or has characters other than letters, digits, "_", "." and "-"',
      ),
    );
  });

  test.each([
    'GITHUB_TOKEN',
    'GITHUB_PERSONAL_ACCESS_TOKEN',
    'NPM_TOKEN',
    'OPENAI_API_KEY',
    'APIKEY',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_REGION',
    'SLACK_TEAM_ID',
    'GOOGLE_CLIENT_ID',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'POSTGRES_PASSWORD',
    'POSTGRES_CONNECTION_STRING',
    'DATABASE_URL',
    'JIRA_URL',
    'GITLAB_API_URL',
    'MONGODB_URI',
    'MYSQL_HOST',
    'MYSQL_PORT',
    'MYSQL_DATABASE',
    'PGHOST',
    'PGPORT',
    'PGUSER',
    'PGPASSWORD',
    'PGDATABASE',
    'JIRA_EMAIL',
    'JIRA_USERNAME',
    'PYTHONUNBUFFERED',
    'NODE_ENV',
    'DEBUG',
    'LOG_LEVEL',
    'NO_COLOR',
    'TZ',
  ])('allows %s', (variable) => {
    expect(last(allowed, { ...RUN, env: { [variable]: 'x' } })).toBe('allowed');
  });

  test('a list without commands ignores variables', () => {
    const entry = { ...RUN, env: { PATH: '/x' } };
    expect(last({ allowedMcpServers: [{ serverName: 'x' }] }, entry)).toBe('allowed');
    expect(last({ allowedMcpServers: [command('other')] }, entry)).toBe('allowedMcpServers of m');
    expect(last({ deniedMcpServers: [NPX] }, entry)).toBe('deniedMcpServers[0] of m');
  });
});

describe('a command in another directory does not match', () => {
  const not =
    'allowedMcpServers of m (the "cwd" of the entry may change what its command runs; add the directory as "cwd" to the matching row of allowedMcpServers)';
  const differs = expect.stringContaining('use the same directory in both');
  const missing = expect.stringContaining('set "cwd" of the entry to the directory in that row');
  test.each([
    ['none, as in the row', {}, undefined, 'allowed'],
    ['one that the row does not name', { cwd: '/evil' }, undefined, not],
    ['a relative one', { cwd: '.' }, undefined, not],
    ['that of the row', { cwd: '/srv/tool' }, '/srv/tool', 'allowed'],
    ['that of the row with a stroke', { cwd: '/srv/tool/' }, '/srv/tool', 'allowed'],
    ['another than that of the row', { cwd: '/srv/tool/../evil' }, '/srv/tool', differs],
    ['none where the row names one', {}, '/srv/tool', missing],
  ])('%s', (_, more, cwd, expected) => {
    const row = { ...NPX, ...(cwd !== undefined && { cwd }) };
    expect(last({ allowedMcpServers: [row] }, { ...RUN, ...more })).toEqual(expected);
  });

  test('one matching row is enough; variables are checked after substitution', () => {
    const rows = [NPX, { ...NPX, cwd: '/srv/tool', env: ['MODE'] }];
    const entry = { ...RUN, cwd: '/srv/tool', env: { MODE: 'x' } };
    expect(last({ allowedMcpServers: rows }, entry)).toBe('allowed');
    expect(last({ allowedMcpServers: rows }, { ...RUN, env: { MODE: 'x' } })).toContain('sets MODE');
    const open = { ...RUN, cwd: `\${DIR}` } as ExternalServerEntry;
    expect(policyOf({ allowedMcpServers: rows }).judge('x', open)).toEqual({ kind: 'undecided' });
    expect(policyOf({ allowedMcpServers: [NPX] }).judge('x', open).kind).toBe('forbidden');
  });

  test.each([{ cwd: 'tools' }, { cwd: 7 }, { env: 'X' }, { env: [7] }, { note: 'x' }])(
    'an invalid row %j forbids everything',
    (more) => {
      expect(last({ allowedMcpServers: [{ ...NPX, ...more }] }, RUN)).toMatch(
        /^the unreadable allowedMcpServers\[0\]/,
      );
    },
  );

  test('rows with names and URLs have no other members', () => {
    for (const row of [
      { ...ANY, cwd: '/x' },
      { serverName: 'x', env: [] },
    ])
      expect(last({ allowedMcpServers: [row] }, HUB)).toMatch(/^the unreadable/);
  });

  test('a URL with a Host header does not match', () => {
    const entry = { ...HUB, headers: { host: 'evil.example' } };
    expect(last({ allowedMcpServers: [ANY] }, entry)).toContain('"headers" of the entry set Host');
    expect(last({ allowedMcpServers: [{ serverName: 'x' }] }, entry)).toBe('allowed');
  });
});

describe('an editor without a URL is on this machine', () => {
  const [WS, SSE] = [{ type: 'ws-ide' }, { type: 'sse-ide' }];
  test.each([
    ['*://*/*', WS, true],
    ['ws://127.0.0.1/*', WS, true],
    ['ws://127.0.0.1:4711/*', WS, true],
    ['http://localhost/*', SSE, true],
    ['http://[::1]:80/', WS, true],
    ['http://127.0.0.1/sse', SSE, true],
    ['http://127.0.0.1/sse', WS, false],
    ['https://evil.example/*', WS, false],
  ])('%s denies %j: %s', (pattern, entry, isDenied) => {
    const rule = isDenied ? 'deniedMcpServers[0] of m' : 'allowed';
    expect(last({ deniedMcpServers: [address(pattern)] }, entry)).toBe(rule);
  });

  test.each([
    ['ws://127.0.0.1:*/*', WS, true],
    ['http://127.0.0.1:*/sse', SSE, true],
    ['*://*:*/*', WS, true],
    ['ws://127.0.0.1/*', WS, false],
    ['ws://127.0.0.1:4711/*', WS, false],
    ['ws://localhost:*/*', WS, false],
    ['https://*/*', SSE, false],
  ])('%s allows %j: %s', (pattern, entry, isAllowed) => {
    const rule = isAllowed ? 'allowed' : 'allowedMcpServers of m';
    expect(last({ allowedMcpServers: [address(pattern)] }, entry)).toBe(rule);
  });
});

describe('the key of a policy', () => {
  const lists = [
    {},
    { deniedMcpServers: [] },
    { allowedMcpServers: [] },
    { deniedMcpServers: [{ serverName: 'a' }] },
    { deniedMcpServers: [NPX] },
    { deniedMcpServers: [ANY] },
    { deniedMcpServers: [ANY, NPX] },
    { deniedMcpServers: [7] },
  ];
  test('changes with the lists', () => {
    const keys = lists.map((it) => policyOf(it).key);
    expect(new Set(keys).size).toBe(lists.length);
    expect(lists.map((it) => policyOf({ ...structuredClone(it), model: 'x' }).key)).toEqual(keys);
  });

  test('changes if settings cannot be read', () => {
    expect(readPolicy([], ['m']).policy.key).not.toBe(readPolicy([]).policy.key);
  });
});
