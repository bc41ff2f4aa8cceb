import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import type { ImportContext, ImportedServer, ImportScope } from '../../../src/config/import/convert-entry.ts';
import { findServers, readImportFile } from '../../../src/config/import/find-servers.ts';
import { IMPORT_PROGRAMS } from '../../../src/config/import/programs.ts';
import { configPlace } from '../config-place.ts';

describe('find foreign', () => {
  /** The paths of the files of every program, by its id. */
  function places(world: ImportContext): Record<string, string[]> {
    return Object.fromEntries(
      IMPORT_PROGRAMS.map((tool) => [tool.id, tool.places(world).map(({ path }) => path)]),
    );
  }

  const HOME = { cwd: '/p/src', project: '/p', userHome: '/h', env: {} };

  test('looks for the files of each program on Linux', () => {
    expect(places({ ...HOME, platform: 'linux' })).toEqual({
      'claude-code': ['/h/.claude.json'],
      'claude-desktop': ['/h/.config/Claude/claude_desktop_config.json'],
      cursor: ['/h/.cursor/mcp.json', '/p/.cursor/mcp.json'],
      vscode: [
        '/h/.config/Code/User/mcp.json',
        '/h/.config/Code/User/settings.json',
        '/p/.vscode/mcp.json',
        '/p/.vscode/settings.json',
      ],
      codex: ['/h/.codex/config.toml', '/p/.codex/config.toml'],
      gemini: ['/h/.gemini/settings.json', '/p/.gemini/settings.json'],
      windsurf: ['/h/.codeium/windsurf/mcp_config.json'],
      zed: ['/h/.config/zed/settings.json', '/p/.zed/settings.json'],
    });
  });

  test('uses the paths of other systems, and those of variables', () => {
    const mac = places({ ...HOME, platform: 'darwin' });
    expect([mac['claude-desktop']?.[0], mac.vscode?.[0], mac.zed?.[0]]).toEqual([
      '/h/Library/Application Support/Claude/claude_desktop_config.json',
      '/h/Library/Application Support/Code/User/mcp.json',
      '/h/.config/zed/settings.json',
    ]);
    const windows = places({ ...HOME, platform: 'win32', env: { APPDATA: '/roaming' } });
    expect([windows['claude-desktop']?.[0], windows.vscode?.[0], windows.zed?.[0]]).toEqual([
      '/roaming/Claude/claude_desktop_config.json',
      '/roaming/Code/User/mcp.json',
      '/roaming/Zed/settings.json',
    ]);
    const env = { CLAUDE_CONFIG_DIR: '/cc', CODEX_HOME: '/cx', XDG_CONFIG_HOME: '/xdg' };
    const moved = places({ ...HOME, platform: 'linux', env });
    expect([moved['claude-code']?.[0], moved.codex?.[0], moved.zed?.[0]]).toEqual([
      '/cc/.claude.json',
      '/cx/config.toml',
      '/xdg/zed/settings.json',
    ]);
  });

  test('reads existing files, ignores missing ones and reports unreadable ones', async () => {
    const { userHome, project, write, world } = configPlace();
    write(join(userHome, '.cursor/mcp.json'), '\ufeff{ "mcpServers": { "one": { "command": "x" } } }');
    mkdirSync(join(project, '.cursor/mcp.json'), { recursive: true });
    truncateSync(write(join(userHome, '.claude.json'), ''), 40 * 1024 * 1024);
    const found = await findServers(IMPORT_PROGRAMS, { ...world(), project });
    expect(
      found.map(({ tool, servers, faults }) => [
        tool.id,
        servers.map((it) => it.name),
        faults.map(formatDiagnostic),
      ]),
    ).toEqual([
      ['claude-code', [], [`${userHome}/.claude.json: is larger than 32 MiB; the file is ignored`]],
      ['cursor', ['one'], []],
      ['cursor', [], [`${project}/.cursor/mcp.json: is a directory, not a file`]],
    ]);
  });

  test('does not block on pipes, and limits size and links of project files', async () => {
    const { userHome, project, write, world } = configPlace();
    const own = write(join(userHome, '.cursor/mcp.json'), { mcpServers: { mine: { command: 'x' } } });
    for (const folder of ['.cursor', '.vscode', '.zed']) mkdirSync(join(project, folder));
    execFileSync('mkfifo', [join(project, '.zed/settings.json')]);
    symlinkSync(own, join(project, '.cursor/mcp.json'));
    truncateSync(write(join(project, '.vscode/mcp.json'), ''), 2 ** 20 + 1);
    const found = await findServers(IMPORT_PROGRAMS, { ...world(), project });
    expect(found.flatMap(({ servers }) => servers.map((it) => it.name))).toEqual(['mine']);
    expect(found.flatMap(({ faults }) => faults.map(formatDiagnostic))).toEqual([
      `${project}/.cursor/mcp.json: is a symbolic link to a path outside of ${project}; such links are not followed`,
      `${project}/.vscode/mcp.json: is larger than 1 MiB; the file is ignored`,
      `${project}/.zed/settings.json: not a regular file`,
    ]);
  });

  test('accepts a byte order mark in a TOML file', async () => {
    const { userHome, project, write, world } = configPlace();
    write(join(userHome, '.codex/config.toml'), '\ufeff[mcp_servers.one]\ncommand = "x"\n');
    const [found] = await findServers(IMPORT_PROGRAMS, { ...world(), project });
    expect(found).toMatchObject({ servers: [{ name: 'one' }], faults: [] });
  });
});

describe('read foreign', () => {
  const WORLD: ImportContext = {
    cwd: '/home/mia/shop/src',
    project: '/home/mia/shop',
    userHome: '/home/mia',
    env: {},
    platform: 'linux',
  };

  const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

  function toolOf(id: string) {
    const tool = IMPORT_PROGRAMS.find((it) => it.id === id);
    if (!tool) throw new Error(`no tool ${id}`);
    return tool;
  }

  /** The servers in short form, and the faults as displayed messages. */
  async function read(id: string, text: string, from: ImportScope = 'user', path = '/f') {
    const { servers, faults } = await readImportFile(toolOf(id), text, { path, from }, WORLD);
    return { servers: servers.map(shown), faults: faults.map(formatDiagnostic) };
  }

  function shown({ name, entry, from, notes, isOff }: ImportedServer) {
    return [name, from, entry, notes, ...(isOff ? ['off'] : [])];
  }

  test('Claude Code: the user’s servers, and those of this directory only (C17)', async () => {
    expect(await read('claude-code', fixture('claude-code.json'))).toEqual({
      servers: [
        [
          'github',
          'user',
          {
            type: 'http',
            url: 'https://api.example.com/mcp/',
            headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
          },
          [],
        ],
        [
          'memory',
          'user',
          { type: 'stdio', command: 'npx', args: ['-y', '@example/server-memory'], env: {} },
          [],
        ],
        [
          'drive',
          'user',
          { type: 'sse', url: 'https://drive.example.com/sse' },
          [
            '"oauth" is not imported: signing in is not imported; set a token in "headers", or "oauth" in the entry',
          ],
        ],
        ['db', 'project', { command: 'db-mcp', args: ['--dsn', '${DSN:-postgres://localhost/shop}'] }, []],
        ['old', 'project', { command: 'old-mcp' }, [], 'off'],
      ],
      faults: ['/f:11:5: mcpServers.broken: an http server needs "url", a full URL'],
    });
  });

  test('Claude Desktop: commands without variables', async () => {
    expect(await read('claude-desktop', fixture('claude-desktop.json'))).toEqual({
      servers: [
        [
          'filesystem',
          'user',
          { command: 'npx', args: ['-y', '@example/server-filesystem', '/Users/mia/Documents'] },
          [],
        ],
        [
          'weather',
          'user',
          {
            command: '/usr/local/bin/weather-mcp',
            env: { WEATHER_KEY: 'wk-1234567890abcdef', UNITS: '$${metric}' },
          },
          [
            '${metric} is not a variable in the other program; it is imported as literal text, written $${metric}',
          ],
        ],
      ],
      faults: [
        '/f:12:5: mcpServers["no command"]: a stdio server needs "command", any other server needs "url"; the entry has neither',
      ],
    });
  });

  test('Cursor: converts variables, and resolves folders in a project', async () => {
    const path = '/home/mia/shop/.cursor/mcp.json';
    expect(await read('cursor', fixture('cursor.jsonc'), 'project', path)).toEqual({
      servers: [
        [
          'linear',
          'project',
          { url: 'https://mcp.linear.example/mcp', headers: { 'X-Key': '${LINEAR_KEY}' } },
          [],
        ],
        [
          'local',
          'project',
          {
            type: 'stdio',
            command: '/home/mia/shop/bin/serve',
            args: ['--home', '${HOME}', '--name', '${workspaceFolderBasename}'],
          },
          [
            '"envFile" is not imported: copy the variables of that file to "env"',
            '${workspaceFolder} became /home/mia/shop',
            '${workspaceFolderBasename} has no equivalent in Toolplane; replace it by its value',
          ],
        ],
        ['sleepy', 'project', { command: 'sleepy' }, [], 'off'],
      ],
      faults: [],
    });
  });

  test('VS Code: converts prompts to secrets, with a note to set them', async () => {
    expect(await read('vscode', fixture('vscode.json'), 'user', '/c/mcp.json')).toEqual({
      servers: [
        [
          'perplexity',
          'user',
          {
            type: 'stdio',
            command: 'npx',
            args: ['-y', 'perplexity-mcp'],
            env: { PERPLEXITY_API_KEY: '${secret:perplexity-key}' },
          },
          [
            '"dev" is not imported',
            '${input:perplexity-key} is a value that the other program asks the user for; store the value with: toolplane secret set perplexity-key',
          ],
        ],
        ['remote', 'user', { url: 'https://mcp.example.com/${TENANT}' }, []],
      ],
      faults: [
        '/c/mcp.json:14:5: servers.pipe: the url of an http server must start with http:// or https://',
      ],
    });
  });

  test.each([
    ['nested', fixture('vscode-settings.json')],
    ['dotted', '{ "mcp.servers": { "time": { "command": "uvx", "args": ["mcp-server-time"] } } }'],
  ])('VS Code: reads settings too, %s', async (_, text) => {
    expect(await read('vscode', text, 'user', '/c/settings.json')).toEqual({
      servers: [['time', 'user', { command: 'uvx', args: ['mcp-server-time'] }, []]],
      faults: [],
    });
  });

  test('Codex: TOML, seconds, and separate members for variables', async () => {
    expect(await read('codex', fixture('codex.toml'))).toEqual({
      servers: [
        [
          'docs',
          'user',
          {
            command: 'npx',
            args: ['-y', 'docs-mcp'],
            env: { DOCS_REGION: 'eu', DOCS_TOKEN: '${DOCS_TOKEN}' },
            cwd: '/srv/docs',
            connectTimeoutMs: 20_000,
            timeout: 90_500,
            includeTools: ['search', 'open'],
            excludeTools: ['delete'],
          },
          [],
        ],
        [
          'figma',
          'user',
          {
            type: 'http',
            url: 'https://mcp.figma.example/mcp',
            headers: {
              Authorization: 'Bearer ${FIGMA_TOKEN}',
              'X-Figma-Region': 'us-east-1',
              'X-Team': '${FIGMA_TEAM}',
            },
          },
          ['"default_tools_approval_mode" is not imported: to allow tools, add rules to permissions.allow'],
        ],
        ['off', 'user', { command: 'off-mcp' }, [], 'off'],
      ],
      faults: ['/f: mcp_servers.odd: "tool_timeout_sec" must be a number of seconds above 0'],
    });
  });

  test('Gemini: httpUrl and url are different transports; trust is not imported', async () => {
    expect(await read('gemini', fixture('gemini.json'))).toEqual({
      servers: [
        [
          'pythonTools',
          'user',
          {
            command: 'python',
            args: ['-m', 'my_mcp_server', '--port', '8080'],
            cwd: './mcp-servers/python',
            env: { DATABASE_URL: '${DB_CONNECTION_STRING}', API_KEY: '${EXTERNAL_API_KEY}' },
            timeout: 15_000,
          },
          [
            '"trust" is not imported: in Gemini CLI it skips every confirmation; to trust the server here, set "trust": true',
          ],
        ],
        [
          'stream',
          'user',
          {
            headers: { Authorization: 'Bearer ${TOKEN}' },
            includeTools: ['a'],
            excludeTools: ['b'],
            type: 'http',
            url: 'https://stream.example.com/mcp',
          },
          [],
        ],
        [
          'events',
          'user',
          { type: 'sse', url: 'https://events.example.com/sse' },
          [
            '"oauth" is not imported: signing in is not imported; set a token in "headers", or "oauth" in the entry',
          ],
        ],
        ['paused', 'user', { command: 'paused-mcp' }, [], 'off'],
      ],
      faults: [],
    });
  });

  test('Windsurf: serverUrl', async () => {
    expect(await read('windsurf', fixture('windsurf.json'))).toEqual({
      servers: [
        [
          'remote',
          'user',
          { url: 'https://windsurf.example.com/mcp', headers: { Authorization: 'Bearer ${WS_TOKEN}' } },
          [],
        ],
        [
          'shell',
          'user',
          { command: 'shell-mcp', excludeTools: ['rm'] },
          ['"alwaysAllow" is not imported: to allow tools, add rules to permissions.allow'],
          'off',
        ],
      ],
      faults: [],
    });
  });

  test('Zed: both forms of a command; refuses servers of extensions', async () => {
    expect(await read('zed', fixture('zed.jsonc'))).toEqual({
      servers: [
        ['local', 'user', { command: 'local-mcp', args: ['serve'], env: {} }, []],
        [
          'older',
          'user',
          { command: 'older-mcp', args: ['-v'] },
          ['"settings" is not imported: these are settings of an extension'],
        ],
        ['remote', 'user', { url: 'https://zed.example.com/mcp' }, [], 'off'],
      ],
      faults: [
        '/f:7:5: context_servers.postgres: the server is provided and started by an extension of Zed, so it cannot be imported',
      ],
    });
  });

  test.each([
    ['broken JSON', 'claude-code', '{ "mcpServers": {', /^\/f:1:\d+: /],
    ['a list', 'claude-code', '[]', /^\/f: not a JSON object$/],
    ['servers that are a list', 'cursor', '{"mcpServers": []}', /^\/f:1:2: mcpServers: must be an object$/],
    ['an entry that is a text', 'gemini', '{"mcpServers": {"a": "b"}}', /mcpServers\.a: must be an object$/],
    [
      'TOML without end',
      'codex',
      `[mcp_servers.a]\n${'b.'.repeat(5_000)}c = 1`,
      /^\/f: too large or too deeply nested$/,
    ],
    ['broken TOML', 'codex', 'x = \nsecret = "abc"', /^\/f:1:\d+: not valid TOML$/],
    [
      'an unknown type',
      'claude-code',
      '{"mcpServers": {"a": {"type": "carrier-pigeon", "url": "x"}}}',
      /unknown type "carrier-pigeon"/,
    ],
  ])('reports %s in one line without the text', async (_, id, text, line) => {
    const { servers, faults } = await read(id, text);
    expect(servers).toEqual([]);
    expect(faults).toEqual([expect.stringMatching(line)]);
  });

  test.each(['', '  \n', '// nothing yet', '{}'])('accepts an empty file (%j)', async (text) => {
    expect(await read('cursor', text)).toEqual({ servers: [], faults: [] });
  });

  test('notes an unknown member by name', async () => {
    const { servers } = await read('cursor', '{"mcpServers": {"a": {"command": "x", "colour": "red"}}}');
    expect(servers).toEqual([['a', 'user', { command: 'x' }, ['"colour" is not imported']]]);
  });

  test('any text gives servers and faults; an invalid entry does not affect others', async () => {
    const good = { command: 'fine', args: ['a'] };
    const names = fc.string({ minLength: 1 }).filter((name) => name !== 'good');
    const file = fc.dictionary(names, fc.jsonValue(), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('claude-code', 'claude-desktop', 'gemini', 'windsurf'),
        file,
        async (id, rest) => {
          const text = JSON.stringify({ mcpServers: { ...rest, good } });
          const { servers, faults } = await readImportFile(
            toolOf(id),
            text,
            { path: '/f', from: 'user' },
            WORLD,
          );
          expect(servers.length + faults.length).toBe(Object.keys(rest).length + 1);
          expect(servers.find(({ name }) => name === 'good')?.entry).toEqual(good);
        },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...IMPORT_PROGRAMS), fc.string(), async (tool, text) => {
        await readImportFile(tool, text, { path: '/f', from: 'user' }, WORLD);
      }),
    );
  });

  test.each([
    ['bearer_token_env_var = { x = 1 }', '"bearer_token_env_var" must be the name of a variable'],
    ['bearer_token_env_var = "sk-s3cret-1"', '"bearer_token_env_var" must be the name of a variable'],
    ['bearer_token_env_var = "${S3CRET}"', '"bearer_token_env_var" must be the name of a variable'],
    ['env_http_headers = { A = "s3cret token" }', '"env_http_headers" must map names to names of variables'],
    ['env_http_headers = ["s3cret"]', '"env_http_headers" must map names to names of variables'],
    ['env_vars = ["A:-s3cret"]', '"env_vars" must be a list of variable names'],
    ['env_vars = ["A", "s3cret}"]', '"env_vars" must be a list of variable names'],
    ['env_vars = [["s3cret"]]', '"env_vars" must be a list of variable names'],
  ])('Codex: refuses an invalid variable name without showing it: %s', async (line, message) => {
    const { servers, faults } = await read('codex', `[mcp_servers.a]\nurl = "https://h"\n${line}\n`);
    expect(servers).toEqual([]);
    expect(faults).toEqual([`/f: mcp_servers.a: ${message}`]);
  });

  test('escapes control characters of a file', async () => {
    const evil = '\u001b[2J\u009b2J\u202e';
    const entry = {
      command: 'x',
      args: [`\${a${evil}}`, `\${sk-s3cret-${'x'.repeat(30)}}`],
      [`m${evil}`]: 1,
    };
    const text = JSON.stringify({ mcpServers: { good: entry, [evil]: entry, bad: { type: `t${evil}` } } });
    for (const id of ['claude-desktop', 'cursor', 'gemini', 'claude-code']) {
      const { servers, faults } = await readImportFile(
        toolOf(id),
        text,
        { path: `/f${evil}`, from: 'user' },
        WORLD,
      );
      expect(servers).toHaveLength(1);
      expect(servers[0]?.notes.length).toBeGreaterThan(1);
      expect(faults).toHaveLength(2);
      for (const line of [...(servers[0]?.notes ?? []), ...faults.map(formatDiagnostic)]) {
        expect(line).toMatch(/^[\x20-\x7e…]+$/);
        expect(line).not.toContain('s3cret');
      }
    }
  });

  test('limits the number of notes and faults', async () => {
    const args = Array.from({ length: 200_000 / 4 }, (_, at) => `\${v${at}}`).join('');
    const bad = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`b${at}`, 1]));
    const text = JSON.stringify({ mcpServers: { a: { command: 'x', args: [args] }, ...bad } });
    const { servers, faults } = await readImportFile(
      toolOf('claude-desktop'),
      text,
      { path: '/f', from: 'user' },
      WORLD,
    );
    expect(servers[0]?.notes).toHaveLength(21);
    expect(servers[0]?.notes.at(-1)).toBe('and 49,980 more notes');
    expect(faults).toHaveLength(51);
  });
});
