import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { portNumber } from '../../../src/cli/flags/flag-values.ts';
import { faultOfName, secretAdvice } from '../../../src/cli/mcp/add.ts';
import { localFile, mcpPlace, projectFile, userFile } from '../support/mcp-place.ts';
import { runCli } from '../support/run-cli.ts';

describe('add', () => {
  test('adds a command to the local file, active immediately', async () => {
    const place = mcpPlace();
    const { code, stdout, stderr } = await place.mcp(
      'add',
      'files',
      '-e',
      'DEBUG=1',
      'MORE=2',
      '--',
      'npx',
      '-y',
      'pkg',
      '-s',
      'x',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^added files \(stdio: npx -y pkg -s x\) in .*\/\.toolplane\/settings\.local\.json \(scope local, a new file\)\n$/,
    );
    expect(place.json(localFile(place))).toMatchObject({
      version: 1,
      mcpServers: {
        files: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'pkg', '-s', 'x'],
          env: { DEBUG: '1', MORE: '2' },
        },
      },
    });
    expect((await place.mcp('list', '--no-connect')).stdout).toMatch(/^· files {2}local {2}.* ready\n$/);
  });

  test('writes an absolute directory to the user file, and warns about a relative path', async () => {
    const place = mcpPlace();
    const { stderr } = await place.mcp('add', '-s', 'user', 'fs', '--', 'npx', '-y', 'server-fs', '.');
    expect(stderr).toBe(
      'toolplane: args[2]: the path is relative to the server\'s own directory, because a server of scope user does not run in the project; write an absolute path or ${TOOLPLANE_PROJECT_DIR}, or set "cwd"\n',
    );
    await place.mcp('add', '-s', 'user', '--cwd', 'tools', 'here', '--', 'node', 'server.js');
    await place.mcp('add', '-s', 'local', '--cwd', 'tools', 'near', '--', 'node', 'server.js');
    expect(place.json(userFile(place))).toMatchObject({
      mcpServers: { here: { cwd: join(place.project, 'tools') } },
    });
    expect(place.json(localFile(place))).toMatchObject({ mcpServers: { near: { cwd: 'tools' } } });
  });

  test('adds a URL to the project file and approves it', async () => {
    const place = mcpPlace();
    const header = 'Authorization: Bearer ${DOCS}';
    const added = await place.mcp(
      'add',
      '-s',
      'project',
      'docs',
      'https://docs.test/mcp',
      '-H',
      header,
      '--json',
    );
    const path = projectFile(place);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(added.stdout)).toEqual({
      added: {
        name: 'docs',
        scope: 'project',
        path,
        entry: { url: 'https://docs.test/mcp', headers: { Authorization: 'Bearer ${DOCS}' } },
      },
      verdict: 'ready',
      shadows: [],
      notes: [],
    });
    expect(place.json(path)).toEqual({
      mcpServers: {
        docs: { url: 'https://docs.test/mcp', headers: { Authorization: 'Bearer ${DOCS}' } },
      },
    });
  });

  test('writes all other flags to the entry', async () => {
    const place = mcpPlace();
    await place.mcp(
      'add',
      'x',
      'run',
      '-s',
      'user',
      '--cwd',
      '/x',
      '--timeout',
      '9000',
      '--trust',
      '--on-demand',
    );
    expect(place.json(userFile(place))).toMatchObject({
      mcpServers: {
        x: { type: 'stdio', command: 'run', cwd: '/x', timeout: 9000, trust: true, start: 'on-demand' },
      },
    });
  });

  test('reports shadowed and shadowing entries', async () => {
    const place = mcpPlace();
    await place.mcp('add', 'x', 'lower', '-s', 'user');
    const over = await place.mcp('add', 'x', 'higher');
    expect(over.stdout).toMatch(/\n {2}shadows the entry in user, ~\/\.toolplane\/settings\.json:\d+:\d+\n$/);
    const under = await place.mcp('add', 'x', 'middle', '-s', 'project');
    expect(under.stdout).toMatch(/\n {2}ignored: shadowed by local\n$/);
  });

  test('replaces an existing entry only with --force, and keeps the rest of the file', async () => {
    const place = mcpPlace();
    place.write(
      projectFile(place),
      '{\n  // ours\n  "mcpServers": { "x": { "command": "old", "args": ["--token", "hunter22222"] } },\n  "other": 1\n}\n',
    );
    const refused = await place.mcp('add', 'x', 'new', '-s', 'project', '--json');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /\.mcp\.json:3:\d+ already has a server "x" \(stdio: old --token \[hidden\]\); use --force to replace it/,
    );
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { message: expect.stringContaining('--force') },
    });
    const { code, stdout } = await place.mcp('add', 'x', 'new', '-s', 'project', '--force');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^replaced x /) });
    const text = readFileSync(projectFile(place), 'utf8');
    expect(text).toContain('// ours');
    expect(text).toContain('"other": 1');
    expect(text).toContain('"command": "new"');
    expect(text).not.toContain('hunter');
  });

  const SECRET = 'ghp_0123456789abcdef0123';

  test('writes a secret with a warning, to a project file only with --force, and never prints it', async () => {
    const place = mcpPlace();
    const shared = await place.mcp('add', '-s', 'project', 'gh', '-e', `GH_TOKEN=${SECRET}`, '--', 'run');
    expect(shared.code).toBe(2);
    expect(shared.stderr).toContain(
      'nothing was written, because the project file is shared; use --force to write the secret anyway',
    );
    expect(place.json(projectFile(place))).toBeUndefined();
    const own = await place.mcp('add', 'gh', '-e', `GH_TOKEN=${SECRET}`, '--', 'run');
    expect(own.code).toBe(0);
    expect(own.stderr).toBe(
      'toolplane: env.GH_TOKEN looks like a secret; to keep it out of the file, run toolplane secret set GH_TOKEN and write ${secret:GH_TOKEN} instead\n',
    );
    expect(place.json(localFile(place))).toMatchObject({ mcpServers: { gh: { env: { GH_TOKEN: SECRET } } } });
    const forced = await place.mcp(
      'add',
      '-s',
      'project',
      'gh',
      '-e',
      `GH_TOKEN=${SECRET}`,
      '--force',
      '--',
      'run',
    );
    expect(forced.code).toBe(0);
    const shown = await place.mcp('get', 'gh', '--no-connect');
    for (const { stdout, stderr } of [shared, own, forced, shown])
      expect(stdout + stderr).not.toContain(SECRET);
  });

  test.each<[string, string[], RegExp]>([
    [
      'a flag of the command without --',
      ['x', 'npx', '-y', 'p'],
      /unknown option '-y'[\s\S]*write -- before the command/,
    ],
    ['no command', ['x'], /^error: missing required argument 'commandOrUrl'\n\(see --help/],
    ['a scope that is none', ['x', 'y', '-s', 'globl'], /one of local, project, user/],
    ['a name that cannot be', ['__proto__', 'y'], /is reserved by JavaScript/],
    [
      'trust in a file that is shared',
      ['x', 'y', '-s', 'project', '--trust'],
      /"trust" is not allowed in a shared file/,
    ],
  ])('%s is a usage error with exit code 2, and nothing is written', async (_, args, message) => {
    const place = mcpPlace();
    const { code, stdout, stderr } = await place.mcp('add', ...args, '--json');
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(JSON.parse(stdout)).toEqual({ error: { message: expect.any(String) } });
    expect([localFile, projectFile, userFile].map((file) => place.json(file(place)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('stores the client secret and writes a reference to it', async () => {
    const place = mcpPlace();
    const env = { MCP_CLIENT_SECRET: 'hunter2-client' };
    const flags = [
      '--client-id',
      'app',
      '--client-secret',
      '--callback-port',
      '8123',
      '-s',
      'user',
      '--json',
    ];
    const added = await place.mcpWith({ env }, 'add', 'my mail', 'https://mail.test/mcp', ...flags);
    expect(added).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/set "oauth\.issuer" in the entry/),
    });
    expect(place.json(userFile(place))).toMatchObject({
      mcpServers: {
        'my mail': {
          url: 'https://mail.test/mcp',
          oauth: { clientId: 'app', clientSecret: '${secret:my_20mail-client-secret}', callbackPort: 8123 },
        },
      },
    });
    expect(JSON.stringify([added, place.json(userFile(place))])).not.toContain('hunter2');
    const typed = ['add', 'b', 'https://b.test', '--client-id', 'app', '--client-secret'];
    const issuer = ['--issuer', 'https://login.test'];
    expect(await place.mcpWith({ input: 'hunter3\n' }, ...typed, ...issuer)).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect((await place.mcp(...typed, ...issuer, '--force')).stderr).toContain(
      'the client secret is missing',
    );
    const list = await runCli(['secret', 'list', '--json'], '', { cwd: place.project, env: place.env });
    expect(JSON.parse(list.stdout)).toMatchObject({
      secrets: [{ name: 'b-client-secret' }, { name: 'my_20mail-client-secret', servers: ['my mail'] }],
      missing: [],
    });
  });

  test.each(['0', '65536', 'x', '08', '-1'])('the port %s is rejected', (port) => {
    expect(() => portNumber(port)).toThrow(/Expected a port/);
    expect(portNumber('65535')).toBe(65_535);
  });

  test('does not change a broken file', async () => {
    const place = mcpPlace();
    const path = place.write(projectFile(place), '{ "mcpServers": { "x": ');
    const { code, stderr } = await place.mcp('add', 'y', 'run', '-s', 'project');
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining('.mcp.json')]);
    expect(readFileSync(path, 'utf8')).toBe('{ "mcpServers": { "x": ');
  });

  test('writes the file of the repository from a directory below it', async () => {
    const place = mcpPlace();
    const below = join(place.project, 'a', 'b');
    place.write(join(below, 'x.txt'), '');
    const { code } = await place.mcpWith({ cwd: below }, 'add', 'x', 'run', '-s', 'project');
    expect(code).toBe(0);
    expect(place.json(projectFile(place))).toMatchObject({ mcpServers: { x: { command: 'run' } } });
  });

  test('add-json accepts an entry as an argument or on stdin, and rejects an invalid one', async () => {
    const place = mcpPlace();
    const one = await place.mcp('add-json', 'x', '{"command": "run", "args": ["1"],}');
    expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/^added x \(stdio: run 1\)/) });
    const input = '{"mcpServers": {"other": {"url": "https://a.test/mcp"}}}';
    const two = await place.mcpWith({ input }, 'add-json', 'y', '-', '-s', 'user');
    expect(two).toMatchObject({
      code: 0,
      stderr: 'toolplane: the entry named "other" is added as "y"\n',
    });
    expect(place.json(localFile(place))).toMatchObject({
      mcpServers: { x: { command: 'run', args: ['1'] } },
    });
    expect(place.json(userFile(place))).toMatchObject({ mcpServers: { y: { url: 'https://a.test/mcp' } } });
    const sdk = await place.mcp('add-json', 'z', '{"type": "sdk", "name": "z"}', '--json');
    expect(sdk.code).toBe(2);
    expect(JSON.parse(sdk.stdout)).toMatchObject({
      error: { message: expect.stringContaining('an in-process server') },
    });
  });
});

describe('secret advice', () => {
  const SECRET = 'ghp_0123456789abcdef0123';

  test.each<[string, object, string, string]>([
    ['a variable', { command: 'x', env: { GITHUB_TOKEN: SECRET } }, 'env.GITHUB_TOKEN', 'GITHUB_TOKEN'],
    [
      'a header',
      { url: 'https://x', headers: { Authorization: `Bearer ${SECRET}` } },
      'headers.Authorization',
      'MY_HUB_TOKEN',
    ],
    ['an address', { url: `https://x/?token=${SECRET}` }, 'url', 'MY_HUB_TOKEN'],
    ['an argument', { command: 'x', args: ['--token', SECRET] }, 'args[1]', 'MY_HUB_TOKEN'],
  ])('%s with a secret gets advice', (_, entry, where, name) => {
    const advice = secretAdvice('my-hub', entry as Record<string, unknown>);
    expect(advice).toEqual([
      `${where} looks like a secret; to keep it out of the file, run toolplane secret set ${name} and write \${secret:${name}} instead`,
    ]);
    expect(advice.join()).not.toContain(SECRET);
  });

  test.each<[string, object]>([
    ['a reference', { command: 'x', env: { GITHUB_TOKEN: '${GITHUB_TOKEN}' } }],
    ['a secret of the store', { url: 'https://x', headers: { Authorization: 'Bearer ${secret:X}' } }],
    ['a plain value', { command: 'x', env: { DEBUG: '1' }, args: ['--port', '3000'] }],
  ])('%s is not a secret', (_, entry) => {
    expect(secretAdvice('x', entry as Record<string, unknown>)).toEqual([]);
  });
});

describe('usable name', () => {
  test.each(['github', 'my server', 'a.b/c', '検索', 'Ünï', 'a_b-c', '1'])('%j is a valid name', (name) => {
    expect(faultOfName(name)).toBeUndefined();
  });

  test.each<[string, RegExp]>([
    ['', /not be empty/],
    ['  ', /not be empty/],
    ['__proto__', /JavaScript/],
    ['a\u001b[31m', /control characters/],
    ['a\nb', /control characters/],
    [' a', /start or end with white space/],
    ['-x', /must not start with "-"; write the flags and the name before --/],
    ['KEY=hunter2', /^"KEY=…" is not a server name; set environment variables with -e/],
    ['https://a.test/mcp', /the name of the server is missing; write it before the URL/],
    ['x'.repeat(201), /at most/],
  ])('%j is not a valid name', (name, fault) => {
    expect(faultOfName(name)).toMatch(fault);
    expect(faultOfName(name)).not.toContain('hunter2');
  });
});
