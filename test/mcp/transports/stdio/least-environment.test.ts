import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isInherited, leastEnvironment } from '../../../../src/mcp/transports/stdio/least-environment.ts';

test('a server inherits what programs need to run, and none of the secrets', () => {
  const needed = {
    PATH: '/bin',
    HOME: '/home/me',
    LANG: 'C',
    LC_ALL: 'C.UTF-8',
    LOGNAME: 'me',
    SHELL: '/bin/sh',
    TMPDIR: '/var/tmp',
    TZ: 'UTC',
    USER: 'me',
  };
  const others = { AWS_SECRET_ACCESS_KEY: 'x', ANTHROPIC_API_KEY: 'x', NODE_OPTIONS: 'x', path: 'x' };
  expect(leastEnvironment({ ...needed, ...others, TERM: undefined })).toEqual(needed);
});

test('the entry has the last word', () => {
  expect(leastEnvironment({ PATH: '/bin' }, { env: { PATH: '/opt', KEY: 'k' } })).toEqual({
    PATH: '/opt',
    KEY: 'k',
  });
});

test('functions that a shell exported are not passed on', () => {
  expect(leastEnvironment({ TERM: '() { :; }; echo bad', HOME: '/' })).toEqual({ HOME: '/' });
});

test('on Windows names are the same in any case', () => {
  const base = {
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\P',
    SECRET: 'x',
    LC_ALL: 'C',
  };
  expect(leastEnvironment(base, { env: { KEY: 'k' } }, 'win32')).toEqual({
    Path: 'C:\\bin',
    SystemRoot: 'C:\\Windows',
    'ProgramFiles(x86)': 'C:\\P',
    KEY: 'k',
  });
  expect(leastEnvironment(base, { env: { PATH: 'D:\\' } }, 'win32')).toMatchObject({ PATH: 'D:\\' });
  expect(leastEnvironment(base, { env: { PATH: 'D:\\' } }, 'win32')).not.toHaveProperty('Path');
});

describe('what reaches the network and npm is inherited', () => {
  test.each([
    'HTTPS_PROXY',
    'https_proxy',
    'HTTP_PROXY',
    'http_proxy',
    'NO_PROXY',
    'no_proxy',
    'ALL_PROXY',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'REQUESTS_CA_BUNDLE',
    'CURL_CA_BUNDLE',
    'npm_config_registry',
    'NPM_CONFIG_REGISTRY',
    'npm_config_cache',
    'npm_config_cafile',
    'npm_config_https_proxy',
    'npm_config_userconfig',
    'npm_config_@acme:registry',
  ])('%s', (name) => {
    expect(leastEnvironment({ [name]: 'x' })).toEqual({ [name]: 'x' });
    expect(leastEnvironment({ [name]: 'x' }, {}, 'win32')).toEqual({ [name]: 'x' });
  });

  test.each([
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_OPTIONS',
    'npm_config_local_prefix',
    'npm_config_local-prefix',
    'npm_config_node_options',
    'NPM_CONFIG_SCRIPT_SHELL',
    'npm_config__auth',
    'npm_config__authToken',
    'npm_config_//registry.npmjs.org/:_authToken',
    'npm_config_//registry.npmjs.org/:_password',
    'npm_config_//registry.npmjs.org/:username',
    'npm_config_key',
    'NPM_CONFIG_KEY',
    'npm_lifecycle_event',
    'INIT_CWD',
    'PWD',
  ])('but not %s, which is a credential or changes what is run', (name) => {
    expect(leastEnvironment({ [name]: 'x' })).toEqual({});
  });

  test('as the documentation lists them', () => {
    const text = readFileSync(new URL('../../../../docs/connections.md', import.meta.url), 'utf8');
    const [, section = ''] = text.split(/^### Environment of servers$/m);
    const rows = section.slice(0, section.indexOf('Anything else')).matchAll(/^\| [a-z ]+ \| (.+) \|$/gm);
    const cells = [...rows].map(([, cell = '']) => cell.split(', but')[0] ?? '');
    const names = cells.flatMap((cell) => [...cell.matchAll(/`([A-Za-z_]+)`/g)].map(([, it]) => it ?? ''));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((it) => !isInherited(it, 'linux') && !isInherited(it, 'win32'))).toEqual([]);
  });
});

test('an entry names more that it inherits, and its env beats them', () => {
  const base = { A_KEY: '1', B_KEY: '2', C_KEY: '3' };
  expect(leastEnvironment(base, { inheritEnv: ['A_KEY', 'B_KEY', 'NONE'], env: { B_KEY: 'own' } })).toEqual({
    A_KEY: '1',
    B_KEY: 'own',
  });
  expect(leastEnvironment({ Token: 'x' }, { inheritEnv: ['TOKEN'] }, 'win32')).toEqual({ Token: 'x' });
});
