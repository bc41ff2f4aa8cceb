import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  isInherited,
  missingVariable,
  missingVariableAdvice,
  serverEnvironment,
} from '../../../../src/mcp/transports/stdio/server-environment.ts';

describe('least environment', () => {
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
    expect(serverEnvironment({ ...needed, ...others, TERM: undefined })).toEqual(needed);
  });

  test('the entry has the last word', () => {
    expect(serverEnvironment({ PATH: '/bin' }, { env: { PATH: '/opt', KEY: 'k' } })).toEqual({
      PATH: '/opt',
      KEY: 'k',
    });
  });

  test('functions that a shell exported are not passed on', () => {
    expect(serverEnvironment({ TERM: '() { :; }; echo bad', HOME: '/' })).toEqual({ HOME: '/' });
  });

  test('on Windows names are the same in any case', () => {
    const base = {
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\P',
      SECRET: 'x',
      LC_ALL: 'C',
    };
    expect(serverEnvironment(base, { env: { KEY: 'k' } }, 'win32')).toEqual({
      Path: 'C:\\bin',
      SystemRoot: 'C:\\Windows',
      'ProgramFiles(x86)': 'C:\\P',
      KEY: 'k',
    });
    expect(serverEnvironment(base, { env: { PATH: 'D:\\' } }, 'win32')).toMatchObject({ PATH: 'D:\\' });
    expect(serverEnvironment(base, { env: { PATH: 'D:\\' } }, 'win32')).not.toHaveProperty('Path');
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
      expect(serverEnvironment({ [name]: 'x' })).toEqual({ [name]: 'x' });
      expect(serverEnvironment({ [name]: 'x' }, {}, 'win32')).toEqual({ [name]: 'x' });
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
      expect(serverEnvironment({ [name]: 'x' })).toEqual({});
    });

    test('as the documentation lists them', () => {
      const text = readFileSync(new URL('../../../../docs/connections.md', import.meta.url), 'utf8');
      const [, section = ''] = text.split(/^### Environment of servers$/m);
      const rows = section
        .slice(0, section.indexOf('Set other variables'))
        .matchAll(/^\| [a-z ]+ \| (.+) \|$/gm);
      const cells = [...rows].map(([, cell = '']) => cell.split('; without ')[0] ?? '');
      const names = cells.flatMap((cell) => [...cell.matchAll(/`([A-Za-z_]+)`/g)].map(([, it]) => it ?? ''));
      expect(names.length).toBeGreaterThan(20);
      expect(names.filter((it) => !isInherited(it, 'linux') && !isInherited(it, 'win32'))).toEqual([]);
    });
  });

  test('an entry names more that it inherits, and its env beats them', () => {
    const base = { A_KEY: '1', B_KEY: '2', C_KEY: '3' };
    expect(
      serverEnvironment(base, { inheritEnv: ['A_KEY', 'B_KEY', 'NONE'], env: { B_KEY: 'own' } }),
    ).toEqual({
      A_KEY: '1',
      B_KEY: 'own',
    });
    expect(serverEnvironment({ Token: 'x' }, { inheritEnv: ['TOKEN'] }, 'win32')).toEqual({ Token: 'x' });
  });
});

describe('missing variable', () => {
  describe('a server that names the variable it misses', () => {
    test.each([
      'WEATHER_API_KEY is not set',
      'Error: WEATHER_API_KEY is required',
      "KeyError: 'WEATHER_API_KEY'",
      'Missing required environment variable: WEATHER_API_KEY',
      'Please set the WEATHER_API_KEY environment variable',
      'Error: environment variable "WEATHER_API_KEY" not found',
      '[error] env WEATHER_API_KEY must be defined',
      'Environment variable `WEATHER_API_KEY` is missing. See https://example.com',
      'ValueError: No WEATHER_API_KEY provided',
      'panic: WEATHER_API_KEY undefined',
      'You need to export WEATHER_API_KEY=<your key> first',
      '  "path": [ "WEATHER_API_KEY" ], "message": "Required"',
      'process.env.WEATHER_API_KEY is empty',
      '\u001b[31mWEATHER_API_KEY\u001b[0m not provided',
    ])('%s', (line) => {
      const lines = [
        'starting',
        line,
        '    at Object.<anonymous> (/x/server.js:3:7)',
        'Node.js v22',
        '(exited with code 1)',
      ];
      const host = { WEATHER_API_KEY: 'k' };
      expect(missingVariable(lines, { given: {}, host })).toEqual({
        name: 'WEATHER_API_KEY',
        isWithheld: true,
      });
      expect(missingVariable(lines, { given: {}, host: {} })).toEqual({
        name: 'WEATHER_API_KEY',
        isWithheld: false,
      });
      expect(missingVariable(lines, { given: host, host })).toBeUndefined();
    });

    test('a name without an underscore counts where variables are spoken of', () => {
      const none = { given: {}, host: {} };
      expect(missingVariable(['the environment variable TOKEN is missing'], none)?.name).toBe('TOKEN');
      expect(missingVariable(['invalid JSON is required here'], none)).toBeUndefined();
    });

    test('a variable that the host has and the server mentions is the one', () => {
      const host = { HUB_HOST: 'x', OTHER_KEY: 'y' };
      expect(missingVariable(['cannot connect, HUB_HOST?'], { given: {}, host })?.name).toBe('HUB_HOST');
    });

    test.each([
      [[]],
      [['Error: listen EADDRINUSE: address already in use']],
      [['Error [ERR_MODULE_NOT_FOUND]: Cannot find package x imported from /y']],
      [["code: 'MODULE_NOT_FOUND', requireStack: []"]],
      [['SyntaxError: Unexpected token']],
      [['npm error code E404', 'npm error 404 Not Found']],
      [['A'.repeat(100_000)]],
    ])('%j names none', (lines) => {
      expect(missingVariable(lines, { given: {}, host: { PATH: '/bin' } })).toBeUndefined();
    });
  });

  test('the advice is what has to be added, as it is typed', () => {
    expect(missingVariableAdvice({ name: 'A_KEY', isWithheld: true })).toBe(
      'A_KEY is set in your environment, but servers inherit only a few variables; pass it on with the option -e A_KEY=\'${A_KEY}\' of toolplane mcp add, or "inheritEnv": ["A_KEY"] in the entry of the server',
    );
    expect(missingVariableAdvice({ name: 'A_KEY', isWithheld: false })).toBe(
      'A_KEY is not set; set it with the option -e A_KEY=… of toolplane mcp add, or "env": { "A_KEY": "…" } in the entry of the server',
    );
  });
});
