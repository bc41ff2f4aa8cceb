import { describe, expect, test } from 'vitest';
import { readPolicy } from '../../../../src/host/config/merge/policy.ts';
import type { ExternalServerEntry } from '../../../../src/protocol/server-entry.ts';

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
  const not = 'allowedMcpServers of m (its "headersHelper" is a command that is not listed)';
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

  test('that is denied, too', () => {
    for (const row of [command('/opt/token', '--short'), command('/opt/token --short')])
      expect(last({ deniedMcpServers: [row] }, helped)).toBe('deniedMcpServers[0] of m');
    expect(last({ deniedMcpServers: [command('/opt/token')] }, helped)).toBe('allowed');
  });

  test('which is not known before something is put in', () => {
    const open = { ...HUB, headersHelper: `\${HELPER}` } as ExternalServerEntry;
    expect(policyOf({ allowedMcpServers: [ANY, NPX] }).judge('x', open)).toEqual({ kind: 'undecided' });
    expect(policyOf({ deniedMcpServers: [NPX] }).judge('x', open)).toEqual({ kind: 'undecided' });
    expect(policyOf({ allowedMcpServers: [ANY] }).judge('x', open)).toEqual({ kind: 'allowed' });
  });

  test('and nothing to a server that is run', () => {
    expect(last({ allowedMcpServers: [NPX] }, { ...RUN, headersHelper: 'x' })).toBe('allowed');
  });
});

describe('a command is not the listed one if its environment may have it run something else', () => {
  const allowed = { allowedMcpServers: [NPX] };
  test.each([
    ['PATH', 'PATH'],
    ['Path', 'PATH'],
    ['NODE_OPTIONS', 'NODE_OPTIONS'],
    ['NODE_PATH', 'NODE_PATH'],
    ['LD_PRELOAD', 'LD_*'],
    ['LD_LIBRARY_PATH', 'LD_*'],
    ['DYLD_INSERT_LIBRARIES', 'DYLD_*'],
    ['PYTHONPATH', 'PYTHON*'],
    ['PYTHONSTARTUP', 'PYTHON*'],
    ['RUBYOPT', 'RUBYOPT'],
    ['PERL5OPT', 'PERL*'],
    ['BASH_ENV', 'BASH_ENV'],
    ['ENV', 'ENV'],
    ['GIT_SSH_COMMAND', 'GIT_SSH*'],
    ['npm_config_registry', 'NPM_CONFIG_*'],
    ['UV_INDEX_URL', 'UV_*'],
    ['LD_\u001b[2J', 'LD_*'],
  ])('%s', (variable, shown) => {
    const entry = { ...RUN, env: { TOKEN: 'x', [variable]: `\${ANY}` } };
    const rule = `allowedMcpServers of m (its "env" sets ${shown}, which may change what its command runs)`;
    expect(last(allowed, entry)).toBe(rule);
    expect(policyOf(allowed).judge('x', entry)).toEqual({ kind: 'forbidden', rule });
  });

  test('what most entries set does no harm', () => {
    const env = {
      GITHUB_TOKEN: 'x',
      NPM_TOKEN: 'x',
      PYTHONUNBUFFERED: '1',
      DEBUG: '*',
      PATHS: '/',
      ENVIRONMENT: 'x',
    };
    expect(last(allowed, { ...RUN, env })).toBe('allowed');
  });

  test('a list without commands does not look at them, and one that does not list the command says so', () => {
    const entry = { ...RUN, env: { PATH: '/x' } };
    expect(last({ allowedMcpServers: [{ serverName: 'x' }] }, entry)).toBe('allowed');
    expect(last({ allowedMcpServers: [command('other')] }, entry)).toBe('allowedMcpServers of m');
    expect(last({ deniedMcpServers: [NPX] }, entry)).toBe('deniedMcpServers[0] of m');
  });
});

describe('an editor without an address is one of this machine', () => {
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
  test('is the same as long as its lists are, and another if they are', () => {
    const keys = lists.map((it) => policyOf(it).key);
    expect(new Set(keys).size).toBe(lists.length);
    expect(lists.map((it) => policyOf({ ...structuredClone(it), model: 'x' }).key)).toEqual(keys);
  });

  test('is another if settings cannot be read', () => {
    expect(readPolicy([], ['m']).policy.key).not.toBe(readPolicy([]).policy.key);
  });
});
