import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IMPORT_PROGRAMS } from '../../../../src/config/import/programs.ts';
import { openSecretStore } from '../../../../src/config/secrets/secret-store.ts';
import { type ConfigPlace, configPlace } from '../../../config/config-place.ts';
import { CLI } from '../../../support/setup/built-package.ts';
import { commandTerminal } from '../../support/command-terminal.ts';
import { CLI_ENV, runCli } from '../../support/run-cli.ts';
import { hasScript } from '../../support/terminal-process.ts';

const TOKEN = 'ghp_0123456789abcdefABCDEF';

/** A person who has used other programs before. */
function person(): ConfigPlace {
  const place = configPlace();
  place.write(join(place.userHome, '.claude.json'), {
    mcpServers: {
      github: {
        type: 'http',
        url: 'https://api.example.com/mcp',
        headers: { Authorization: `Bearer ${TOKEN}` },
      },
      memory: { command: 'npx', args: ['-y', 'server-memory'] },
    },
    projects: { [place.project]: { mcpServers: { db: { command: 'db-mcp' } } } },
  });
  place.write(
    join(place.userHome, '.codex/config.toml'),
    '[mcp_servers.memory]\ncommand = "npx"\nargs = ["-y", "server-memory"]\n\n[mcp_servers.later]\ncommand = "later"\nenabled = false\n',
  );
  place.write(join(place.project, '.cursor/mcp.json'), { mcpServers: { sneaky: { command: 'sneaky' } } });
  return place;
}

function run(place: ConfigPlace, ...args: string[]) {
  return runCli(['mcp', 'import', ...args], '', { cwd: place.project, env: place.env });
}

const terminalOf = ({ project, env }: ConfigPlace) =>
  commandTerminal(`'${process.execPath}' '${CLI}' mcp import`, {
    cwd: project,
    env: { PATH: CLI_ENV.PATH ?? '', NO_COLOR: '1', ...env },
  });

const settingsOf = ({ home }: ConfigPlace) => join(home, 'settings.json');
const written = (place: ConfigPlace) =>
  JSON.parse(readFileSync(settingsOf(place), 'utf8')) as { mcpServers: object };

test('without a terminal it lists the servers and writes nothing', async () => {
  const place = person();
  const { code, stdout, stderr } = await run(place);
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      'Claude Code (claude-code)  ~/.claude.json',
      '  github  new  http: https://api.example.com/mcp',
      '  memory  new  stdio: npx -y server-memory',
      '  db      new  stdio: db-mcp',
      '',
      'Cursor (cursor)  .cursor/mcp.json',
      '  sneaky  new  stdio: sneaky',
      '',
      'Codex (codex)  ~/.codex/config.toml',
      '  memory  same as Claude Code            stdio: npx -y server-memory',
      '  later   new, disabled in that program  stdio: later',
      '',
    ].join('\n'),
  );
  expect(stderr).toBe(
    'toolplane: nothing was written; use --all to import all new servers, or --all --dry-run to preview the import\n',
  );
  expect(existsSync(settingsOf(place))).toBe(false);
});

test('--all imports new servers, except from project files and disabled ones', async () => {
  const place = person();
  const { code, stdout, stderr } = await run(place, '--all');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    '✓ github from Claude Code: written: http: https://api.example.com/mcp',
    '✓ memory from Claude Code: written: stdio: npx -y server-memory',
    '✓ db from Claude Code: written: stdio: db-mcp',
    '– memory from Codex: the same server as in Claude Code',
    '– later from Codex: disabled in the other program',
    '– sneaky from Cursor: in a project file; use --project-files to import it',
    'written to ~/.toolplane/settings.json (scope user)',
    '',
  ]);
  expect(Object.keys(written(place).mcpServers)).toEqual(['github', 'memory', 'db']);
  expect(statSync(settingsOf(place)).mode & 0o777).toBe(0o600);
  expect(stderr).toContain('the file contains credentials: github (headers.Authorization)');
  expect(stdout + stderr).not.toContain(TOKEN);

  const again = await run(place, '--all');
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('– memory from Claude Code: already configured: user, ~/');
  expect(again.stdout).not.toContain('✓');
});

test('--dry-run writes nothing, and --json contains no secrets', async () => {
  const place = person();
  const [{ code, stdout }, text] = await Promise.all([
    run(place, 'claude-code', '--dry-run', '--secrets', '--json'),
    run(place, 'claude-code', '--dry-run'),
  ]);
  expect(code).toBe(0);
  expect(text.stderr).toBe(
    'toolplane: the file would contain credentials: github (headers.Authorization); use --secrets to keep them out\n',
  );
  expect(existsSync(settingsOf(place))).toBe(false);
  expect(existsSync(join(place.home, 'secrets.enc'))).toBe(false);
  expect(stdout).not.toContain(TOKEN);
  const { servers, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({ scope: 'user', path: settingsOf(place), dryRun: true, faults: [] });
  expect(servers[0]).toMatchObject({
    source: 'claude-code',
    file: join(place.userHome, '.claude.json'),
    name: 'github',
    comparison: 'new',
    action: 'would-write',
    secrets: ['github-Authorization'],
    literal: [],
  });
  expect(servers).toHaveLength(3);
});

test('--secrets stores credentials and writes references', async () => {
  const place = person();
  const { code, stdout } = await run(place, '--all', '--secrets');
  expect(code).toBe(0);
  expect(stdout).toContain('✓ github from Claude Code: written, with secrets github-Authorization: http: ');
  expect(written(place).mcpServers).toMatchObject({
    github: { headers: { Authorization: '${secret:github-Authorization}' } },
  });
  expect(readFileSync(settingsOf(place), 'utf8')).not.toContain(TOKEN);
  expect(openSecretStore(place.world()).get('github-Authorization')).toContain(TOKEN);
});

test('replaces an entry of the same name only with --force', async () => {
  const place = person();
  const mine = { version: 1, mcpServers: { memory: { command: 'mine' } } };
  place.write(settingsOf(place), mine);
  const refused = await run(place, 'codex', '--all');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(
    /^– memory from Codex: another server has this name: user, ~\/\.toolplane\/settings\.json:\d+:\d+; use --force to replace it$/m,
  );
  expect(written(place)).toEqual(mine);
  const forced = await run(place, 'codex', '--all', '--force');
  expect(forced.code).toBe(0);
  expect(forced.stdout).toContain('✓ memory from Codex: replaced');
  expect(written(place).mcpServers).toEqual({ memory: { command: 'npx', args: ['-y', 'server-memory'] } });
});

test('reports a broken file and a broken entry in one line each; other entries are imported', async () => {
  const place = person();
  place.write(join(place.userHome, '.cursor/mcp.json'), '{ "mcpServers": {');
  place.write(join(place.userHome, '.gemini/settings.json'), {
    mcpServers: { bad: { command: 5 }, good: { command: 'good' } },
  });
  const { code, stderr } = await run(place, '--all');
  expect(code).toBe(1);
  const lines = stderr.split('\n').filter((line) => line.includes(place.userHome));
  expect(lines).toEqual([
    expect.stringMatching(/\.cursor\/mcp\.json:1:\d+: /),
    expect.stringMatching(/\.gemini\/settings\.json:3:5: mcpServers\.bad: a stdio server needs "command"/),
  ]);
  expect(Object.keys(written(place).mcpServers)).toContain('good');
});

test('writes no secrets to a shared file without --force', async () => {
  const place = person();
  const { code, stdout } = await run(place, 'claude-code', '--all', '--scope', 'project');
  expect(code).toBe(1);
  expect(stdout).toContain(
    '✗ github from Claude Code: headers.Authorization looks like a secret, and the file is shared',
  );
  const shared = readFileSync(join(place.project, '.mcp.json'), 'utf8');
  expect(Object.keys(JSON.parse(shared).mcpServers)).toEqual(['memory', 'db']);
});

test('names all secrets of an entry that is not written to a shared file', async () => {
  const place = configPlace();
  place.write(join(place.userHome, '.claude.json'), {
    mcpServers: { api: { command: 'npx', env: { API_TOKEN: TOKEN, GITHUB_TOKEN: TOKEN } } },
  });
  const { stdout } = await run(place, 'claude-code', '--all', '--scope', 'project');
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'env.API_TOKEN, env.GITHUB_TOKEN look like secrets, and the file is shared; ' +
      'use --secrets to store them in the secret store, or --force to write them anyway',
  );
});

test.each([
  ['an unknown source', ['cursr'], /unknown source "cursr"; did you mean cursor\?/],
  ['a short one', ['claude'], /did you mean claude-code\?/],
  ['an unknown scope', ['--scope', 'usr'], /did you mean user\?/],
  ['a misspelt flag', ['--secret'], /Did you mean --secrets\?/],
])('%s is exit code 2', async (_, args, message) => {
  const { code, stdout, stderr } = await run(person(), ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});

test('the help lists every source', async () => {
  const { stdout } = await run(person(), '--help');
  for (const { id } of IMPORT_PROGRAMS) expect(stdout).toContain(`\n  ${id} `);
});

test('finds project files from a directory below the repository root', async () => {
  const place = person();
  const below = join(place.project, 'packages/shop');
  mkdirSync(below, { recursive: true });
  const { stdout } = await runCli(['mcp', 'import', '--json'], '', { cwd: below, env: place.env });
  const { servers } = JSON.parse(stdout) as { servers: { name: string }[] };
  expect(servers.map(({ name }) => name)).toEqual(['github', 'memory', 'db', 'memory', 'later', 'sneaky']);
});

test('without any servers, it lists the files it looked for', async () => {
  const { code, stdout, stderr } = await run(configPlace(), 'cursor', 'codex');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toBe(
    'toolplane: no servers of other programs found in ~/.cursor/mcp.json, .cursor/mcp.json, ~/.codex/config.toml, .codex/config.toml\n',
  );
});

test.runIf(hasScript)(
  'in a terminal the user chooses one by one, and refused servers are not imported',
  async () => {
    const place = person();
    const terminal = terminalOf(place);
    await terminal.until('import? ');
    terminal.type('o\r');
    for (const [name, answer] of [
      ['github', 'n'],
      ['memory', 'y'],
      ['db', 'n'],
      ['later', 'n'],
      ['sneaky', 'y'],
    ] as const) {
      await terminal.until(`? ${name} from `);
      await terminal.until('import it? (y or n) ');
      terminal.type(`${answer}\r`);
    }
    await terminal.until('written to ~/.toolplane/settings.json');
    await terminal.closed;
    expect(Object.keys(written(place).mcpServers)).toEqual(['memory', 'sneaky']);
  },
);

test.runIf(hasScript)(
  'importing all still asks about servers of project files; Ctrl-C writes nothing',
  async () => {
    const place = person();
    const terminal = terminalOf(place);
    await terminal.until('all 3 new');
    await terminal.until('import? ');
    terminal.type('a\r');
    await terminal.until('sneaky from Cursor (from a project file)');
    await terminal.until('"command": "sneaky"');
    await terminal.until('import it? (y or n) ');
    terminal.type('\u0003');
    expect(await terminal.closed).toEqual([130, null]);
    expect(existsSync(settingsOf(place))).toBe(false);
  },
);
