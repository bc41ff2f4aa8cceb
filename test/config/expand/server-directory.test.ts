import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decideServers } from '../../../src/config/approval/approval-store.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { serverDirectory } from '../../../src/config/expand/server-directory.ts';
import { RunningConfiguration } from '../../../src/config/running-configuration.ts';
import type { ConfigFlags } from '../../../src/config/sources/source-types.ts';
import type { ServerEntry } from '../../../src/mcp/connection/connect-context.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import { rawServer } from '../../mcp/support/raw-servers.ts';
import { testWorld } from '../../mcp/support/servers.ts';
import { startWeb } from '../../mcp/transports/http/support/web.ts';
import { type ConfigPlace, configPlace } from '../config-place.ts';

/** A server whose tool returns its working directory and its PATH. */
const TELLING = rawServer(`(message, send, greet) => {
  const told = JSON.stringify([process.cwd(), process.env.PATH]);
  if (message.method === 'initialize') return greet(message);
  if (message.method === 'tools/list') return send({ id: message.id, result: { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] } });
  if (message.method === 'tools/call') return send({ id: message.id, result: { content: [{ type: 'text', text: told }] } });
  if (message.id !== undefined) send({ id: message.id, error: { code: -32601, message: 'no' } });
}`);

/** The servers of a configuration, connected as a session connects them. */
async function dialled(place: ConfigPlace, wanted: ConfigFlags = {}, more: Record<string, ServerEntry> = {}) {
  const env = { ...place.env, PATH: process.env.PATH ?? '' };
  const running = new RunningConfiguration(await readConfiguration(place.world(env), wanted));
  const world = testWorld({ cwd: place.project, env, expand: running.expand });
  const servers = new Servers(world, { retry: { attempts: 0 } });
  onTestFinished(() => servers[Symbol.asyncDispose]());
  servers.add({ ...running.servers, ...more }, 'config');
  await servers.settled();
  return { servers, running };
}

async function placeOf({ servers }: Awaited<ReturnType<typeof dialled>>, name: string): Promise<string> {
  const connection = await servers.target(name)?.connect();
  const result = await connection?.callTool('tell', {});
  const [{ text } = { text: 'null' }] = (result?.content ?? []) as { text: string }[];
  return JSON.parse(text)[0];
}

const servers = (mcpServers: object) => ({ mcpServers });

describe('working directory of a server', () => {
  test('user scope: a directory of its own that only the user can read', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), servers({ mine: TELLING }));
    const own = join(place.home, 'servers/mine');
    expect(await placeOf(await dialled(place), 'mine')).toBe(own);
    expect(statSync(own).mode & 0o777).toBe(0o700);
  });

  test('plugin and managed scope: a directory of its own', async () => {
    const place = configPlace();
    const plugin = place.write(join(place.userHome, 'plugin/.mcp.json'), servers({ added: TELLING }));
    place.write(join(place.home, 'settings.json'), { plugins: [join(plugin, '..')] });
    expect(await placeOf(await dialled(place), 'added')).toBe(join(place.home, 'servers/added'));
    place.write(join(place.managed, 'managed-mcp.json'), servers({ ruled: TELLING }));
    expect(await placeOf(await dialled(place), 'ruled')).toBe(join(place.home, 'servers/ruled'));
  });

  test.each(['project', 'local'] as const)(
    'of scope %s: in the project it was approved with',
    async (scope) => {
      const place = configPlace();
      const file = scope === 'project' ? '.mcp.json' : '.toolplane/settings.local.json';
      const path = place.write(join(place.project, file), servers({ shared: TELLING }));
      decideServers(place.home, [{ scope, path, name: 'shared', raw: TELLING }], 'approved');
      expect(await placeOf(await dialled(place), 'shared')).toBe(place.project);
    },
  );

  test('program scope: the directory of the program, also with the name of another server', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), servers({ mine: { command: 'other' } }));
    const given = await dialled(place, { mcpConfigs: [JSON.stringify(servers({ given: TELLING }))] });
    expect(await placeOf(given, 'given')).toBe(place.project);
    expect(await placeOf(await dialled(place, {}, { mine: TELLING }), 'mine')).toBe(place.project);
  });

  test('uses "cwd", relative to the file that contains the entry', async () => {
    const place = configPlace();
    mkdirSync(join(place.home, 'tools'), { recursive: true });
    place.write(
      join(place.home, 'settings.json'),
      servers({
        absolute: { ...TELLING, cwd: place.userHome },
        relative: { ...TELLING, cwd: 'tools' },
        here: { ...TELLING, cwd: '${TOOLPLANE_PROJECT_DIR}' },
      }),
    );
    const made = await dialled(place);
    expect(await placeOf(made, 'absolute')).toBe(place.userHome);
    expect(await placeOf(made, 'relative')).toBe(join(place.home, 'tools'));
    expect(await placeOf(made, 'here')).toBe(place.project);
  });

  test('keeps the directory when a server reconnects after its entry changed', async () => {
    const place = configPlace();
    const file = place.write(join(place.home, 'settings.json'), servers({ mine: TELLING }));
    const { running } = await dialled(place);
    const entry = running.servers.mine as ServerEntry;
    place.write(file, servers({}));
    const later = new RunningConfiguration(await readConfiguration(place.world()));
    expect(later.expand('mine', entry).isolation).toBeUndefined();
    expect(running.expand('mine', entry).isolation?.cwd).toBe(join(place.home, 'servers/mine'));
  });

  test('falls back to the user’s home if Toolplane’s is not writable and the user’s is outside of the project', async () => {
    const place = configPlace();
    place.write(join(place.home, 'settings.json'), servers({ mine: TELLING }));
    writeFileSync(join(place.home, 'servers'), 'a file in its place');
    expect(await placeOf(await dialled(place), 'mine')).toBe(place.userHome);
    mkdirSync(join(place.userHome, '.git'));
    const inside = new RunningConfiguration(await readConfiguration(place.world({}, place.userHome)));
    expect(() => inside.expand('mine', inside.servers.mine as ServerEntry)).toThrow(
      /cannot create the working directory .*servers\/mine of the server \(\w+\); set "cwd" in its entry/,
    );
  });
});

describe('an unapproved repository cannot start anything', () => {
  const evil = (proof: string) => `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')`;

  test.each<[string, (proof: string) => object]>([
    [
      'a module that node loads first',
      () => ({ command: process.execPath, args: ['--import', './evil.mjs', '-e', '0'] }),
    ],
    [
      'a package that node loads first',
      () => ({ command: process.execPath, args: ['--require', 'evil', '-e', '0'] }),
    ],
    ['the file that is run', () => ({ command: process.execPath, args: ['evil.cjs'] })],
    ['a module of python', () => ({ command: 'python3', args: ['-m', 'evil'] })],
    [
      'a command of npx',
      () => ({ command: 'npx', args: ['--no', 'evil'], env: { npm_config_offline: 'true' } }),
    ],
    ['a script of a shell', () => ({ command: 'sh', args: ['-c', '. ./evil.sh'] })],
    ['a relative command', () => ({ command: './evil.sh' })],
    [
      'a module of NODE_OPTIONS',
      () => ({ command: process.execPath, args: ['-e', '0'], env: { NODE_OPTIONS: '--require ./evil.cjs' } }),
    ],
    ['a relative place in PATH', () => ({ command: 'evil.sh', env: { PATH: '.' } })],
    ['a relative cwd', () => ({ command: process.execPath, args: ['evil.cjs'], cwd: '.' })],
  ])('%s', async (_, entryOf) => {
    const place = configPlace();
    const proof = join(place.userHome, 'it-ran');
    const files: Record<string, string> = {
      'evil.mjs': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(proof)}, '');`,
      'evil.cjs': evil(proof),
      'node_modules/evil/index.js': evil(proof),
      'node_modules/.bin/evil': `#!/bin/sh\ntouch '${proof}'\n`,
      'evil.py': `open(${JSON.stringify(proof)}, 'w')`,
      'evil.sh': `#!/bin/sh\n: > '${proof}'\n`,
      'package.json': '{}',
    };
    for (const [name, text] of Object.entries(files))
      chmodSync(place.write(join(place.project, name), text), 0o755);
    place.write(join(place.home, 'settings.json'), servers({ mine: entryOf(proof) }));
    const made = await dialled(place);
    expect(made.servers.all.get('mine')?.status.state).toBe('failed');
    expect(existsSync(proof)).toBe(false);
  });

  test('a program of the project that npm put on PATH', async () => {
    const place = configPlace();
    const proof = join(place.userHome, 'it-ran');
    const bin = join(place.project, 'sub/node_modules/.bin');
    chmodSync(place.write(join(bin, 'docs-server'), `#!/bin/sh\ntouch '${proof}'\n`), 0o755);
    place.write(join(place.home, 'settings.json'), servers({ mine: { command: 'docs-server' } }));
    const path = [bin, '', '.', process.env.PATH].join(delimiter);
    const running = new RunningConfiguration(await readConfiguration(place.world()));
    const world = testWorld({ cwd: place.project, env: { PATH: path }, expand: running.expand });
    await using made = new Servers(world, { retry: { attempts: 0 } });
    made.add(running.servers, 'config');
    await made.settled();
    expect(made.all.get('mine')?.status).toMatchObject({ state: 'failed', cause: { code: 'spawn-failed' } });
    expect(existsSync(proof)).toBe(false);
  });

  test('a script that a headersHelper of the user would run', async () => {
    const place = configPlace();
    const proof = join(place.userHome, 'it-ran');
    await using web = await startWeb();
    place.write(join(place.project, 'evil.sh'), `touch '${proof}'; echo '{}'`);
    const helped = { type: 'http', url: web.url, headersHelper: 'sh ./evil.sh' };
    place.write(join(place.home, 'settings.json'), servers({ mine: helped }));
    await dialled(place);
    expect(existsSync(proof)).toBe(false);
  });

  test('a certificate authority in the project', async () => {
    const place = configPlace();
    const url = 'https://127.0.0.1:1/mcp';
    place.write(
      join(place.home, 'settings.json'),
      servers({ mine: { type: 'http', url, tls: { ca: 'ca.pem' } } }),
    );
    const running = new RunningConfiguration(await readConfiguration(place.world()));
    const { entry } = running.expand('mine', running.servers.mine as ServerEntry);
    expect(entry).toMatchObject({ tls: { ca: join(place.home, 'ca.pem') } });
  });
});

describe('directory name', () => {
  test.each([
    ['docs', 'docs'],
    ['my_docs-2', 'my_docs-2'],
  ])('%j is %j', (name, expected) => {
    expect(serverDirectory('/h', name)).toBe(join('/h/servers', expected));
  });

  test.each([
    '..',
    '.',
    '../../x',
    'a/b',
    'a\\b',
    'Docs',
    'con',
    'nul',
    'my docs',
    'Ünï',
    '文档',
    'x'.repeat(200),
    '-x',
    'a.',
  ])('%j stays inside the parent directory and is unique', (name) => {
    const path = serverDirectory('/h', name);
    expect(join(path, '..')).toBe('/h/servers');
    expect(basename(path)).toMatch(/^(?:[a-z0-9][a-z0-9-]{0,40}-)?[0-9a-f]{12}$/);
  });
});

test('warns about relative paths of servers that do not run in the project', async () => {
  const place = configPlace();
  const fs = ['-y', '@modelcontextprotocol/server-filesystem'];
  place.write(
    join(place.home, 'settings.json'),
    servers({
      dot: { command: 'npx', args: [...fs, '.'] },
      below: { command: 'npx', args: [...fs, './docs'] },
      flag: { command: 'tool', args: ['--root=../x'] },
      script: { command: 'node', args: ['--no-warnings', 'dist/server.js'] },
      path: { command: 'bin/server' },
      cwd: { command: 'x', cwd: 'tools' },
      fine: { command: 'npx', args: ['-y', 'chart.js', '--url', 'http://x/y.js', '/abs/z.js', 'a.b'] },
      named: { command: 'npx', args: [...fs, '${TOOLPLANE_PROJECT_DIR}'] },
      there: { command: 'npx', args: [...fs, '.'], cwd: '/srv' },
      windows: { command: 'C:\\tools\\server.exe', args: [] },
    }),
  );
  const { faults } = await readConfiguration(place.world());
  expect(faults.map(({ level, key }) => `${level} ${key}`)).toEqual([
    'warning mcpServers.below.args[2]',
    'warning mcpServers.cwd.cwd',
    'warning mcpServers.dot.args[2]',
    'warning mcpServers.flag.args[0]',
    'warning mcpServers.path.command',
    'warning mcpServers.script.args[1]',
  ]);
  expect(faults[2]?.message).toBe(
    'the path is relative to the server\'s own directory, because a server of scope user does not run in the project; write an absolute path or ${TOOLPLANE_PROJECT_DIR}, or set "cwd"',
  );
});

test('applies the policy to inherited variables of settings, unless the administrator set them', async () => {
  const place = configPlace();
  const rows = [{ serverCommand: [TELLING.command, ...(TELLING.args ?? [])] }];
  const managed = join(place.managed, 'managed-settings.json');
  place.write(managed, { allowedMcpServers: rows });
  place.write(join(place.home, 'settings.json'), {
    ...servers({ mine: TELLING }),
    env: { PATH: '/evil', MODE: 'x' },
  });
  const expanded = async () => {
    const running = new RunningConfiguration(await readConfiguration(place.world()));
    return running.expand('mine', running.servers.mine as ServerEntry);
  };
  await expect(expanded()).rejects.toThrow(/the entry sets PATH/);
  place.write(managed, { allowedMcpServers: rows, env: { PATH: '/evil' } });
  expect((await expanded()).entry).toEqual(TELLING);
});
