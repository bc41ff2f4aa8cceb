import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { SCRIPTS } from '../../../../src/cli/commands/completion/completion.ts';
import { configPlace } from '../../../config/config-place.ts';
import { CLI, PACKAGE } from '../../../support/setup/built-package.ts';
import { commandTerminal } from '../../support/command-terminal.ts';
import { CLI_ENV, runCli } from '../../support/run-cli.ts';
import { hasScript } from '../../support/terminal-process.ts';

/** Directories with servers and secrets, and the command on the PATH. */
function person() {
  const place = configPlace();
  place.write(join(place.home, 'settings.json'), {
    version: 1,
    mcpServers: { github: { command: 'x' }, 'two words': { command: 'y' } },
  });
  place.write(join(place.project, '.mcp.json'), { mcpServers: { gitlab: { command: 'z' } } });
  place.write(join(place.project, 'some-file.json'), {});
  const bin = join(place.userHome, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'toolplane'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(join(bin, 'toolplane'), 0o755);
  return { place, env: { ...place.env, PATH: `${bin}:${CLI_ENV.PATH}` } };
}

const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

test.each(['bash', 'zsh'].filter(isThere))('%s takes its script', (shell) => {
  const { status, stderr } = spawnSync(shell, ['-n'], { input: SCRIPTS[shell as 'bash'], encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('bash completes commands, flags, values, names and files', () => {
  const { place, env } = person();
  const lines = [
    ['toolplane', 'mcp', 'reset'],
    ['toolplane', 'mcp', 'add', '--tran'],
    ['toolplane', 'mcp', 'add', '--scope', '=', 'u'],
    ['toolplane', 'mcp', 'get', 'git'],
    ['toolplane', 'mcp', 'get', 'two'],
    ['toolplane', 'tools', '--mcp-config', 'some'],
    ['toolplane', 'completion', ''],
  ];
  const script = [
    'source <(toolplane completion bash)',
    ...lines.map((words) => {
      const quoted = words.map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _toolplane; (IFS='|'; echo "\${COMPREPLY[*]}")`;
    }),
    'complete -p toolplane',
  ].join('\n');
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: place.project,
    env,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(stdout.trimEnd().split('\n')).toEqual([
    'reset-project-choices',
    '--transport',
    'user',
    'github|gitlab',
    'two\\ words',
    'some-file.json',
    'bash|zsh|fish',
    'complete -F _toolplane toolplane',
  ]);
});

test.runIf(hasScript)('a tab in a terminal finishes the word', async () => {
  const { place, env } = person();
  const terminal = commandTerminal('bash --norc --noprofile -i', {
    cwd: place.project,
    env: { ...env, TERM: 'dumb', PS1: '> ', INPUTRC: '/dev/null' },
  });
  terminal.type('source <(toolplane completion bash); echo lo""aded\n');
  await terminal.until('loaded\r\n');
  terminal.type('toolplane mcp serv\t--allow-wr\t--help\n');
  await terminal.until('toolplane mcp serve --allow-writes --help');
  await terminal.until('Serve Read, Glob and Grep');
  terminal.type('exit\n');
  await terminal.closed;
});

test.each(['zsh'].filter(isThere))('so does one in %s', async () => {
  const { place, env } = person();
  const terminal = commandTerminal('zsh -f -i', {
    cwd: place.project,
    env: { ...env, TERM: 'dumb', PS1: '> ', ZDOTDIR: place.userHome },
  });
  terminal.type(
    'autoload -Uz compinit && compinit -u -D; source <(toolplane completion zsh); echo lo""aded\n',
  );
  await terminal.until('loaded\r\n');
  terminal.type('toolplane mcp serv\t--allow-wr\t--help\n');
  await terminal.until('Serve Read, Glob and Grep');
  terminal.type('toolplane mcp get gith\t--no-connect\n');
  await terminal.until('github');
  await terminal.until('settings.json');
  terminal.type('exit\n');
  await terminal.closed;
});

test.each(['fish'].filter(isThere))('%s completes commands, flags, values and names', () => {
  const { place, env } = person();
  const complete = (line: string) => {
    const script = `toolplane completion fish | source; complete -C '${line}'`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], {
      cwd: place.project,
      env,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout
      .trimEnd()
      .split('\n')
      .map((it) => it.split('\t')[0]);
  };
  expect(complete('toolplane mcp reset')).toEqual(['reset-project-choices']);
  expect(complete('toolplane mcp add --tran')).toEqual(['--transport']);
  expect(complete('toolplane mcp get git')).toEqual(['github', 'gitlab']);
  expect(complete('toolplane mcp add --scope u')).toEqual(['user']);
});

test('a server whose name looks like a flag is not offered', async () => {
  const { place, env } = person();
  const servers = { '--trust-repository': { command: 'x' }, fine: { command: 'y' } };
  place.write(join(place.project, '.mcp.json'), { mcpServers: servers });
  const words = (...typed: string[]) =>
    runCli(['completion', '--words', '--', 'mcp', 'approve', ...typed], '', { cwd: place.project, env });
  const [plain, over] = await Promise.all([words(''), words('--', '-')]);
  expect(plain.stdout.split('\n').map((it) => it.split('\t')[0])).toEqual([
    'fine',
    'github',
    'two words',
    '',
  ]);
  expect(over.stdout).toBe('');
});

test('loads no installed package except commander, and no model SDK', () => {
  const { place, env } = person();
  const hook = place.write(
    join(place.userHome, 'hook.mjs'),
    `import { registerHooks } from 'node:module';
     registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });`,
  );
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['--import', hook, CLI, 'completion', '--words', '--', ...words], {
      cwd: place.project,
      env,
      encoding: 'utf8',
    });
  const { stdout, stderr } = run('mcp', 'remo');
  expect(stdout).toBe('remove\tRemove a server from its file.\n');
  const files = stderr
    .split('\n')
    .filter((line) => line.startsWith('file:') && line !== pathToFileURL(hook).href);
  expect(files.filter((url) => !url.startsWith(pathToFileURL(PACKAGE).href))).toEqual([]);
  expect(files.filter((url) => /\/chunks\/(?:openai|sdk)-/.test(url))).toEqual([]);
});

test('unreadable files and secrets do not affect other completions and print nothing', async () => {
  const { place, env } = person();
  place.write(join(place.home, 'settings.json'), '{ "mcpServers": ');
  place.write(join(place.home, 'secrets.json'), 'no secrets');
  const ask = (...words: string[]) =>
    runCli(['completion', '--words', '--', ...words], '', { cwd: place.project, env });
  expect(await ask('mcp', 'get', '')).toEqual({ code: 0, stdout: 'gitlab\tproject\n', stderr: '' });
  expect(await ask('secret', 'remove', '')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('offers names of secrets, not values', async () => {
  const { place, env } = person();
  await runCli(['secret', 'set', 'github-token'], 'abc-value', { cwd: place.project, env });
  const asked = await runCli(['completion', '--words', '--', 'secret', 'remove', 'git'], '', {
    cwd: place.project,
    env,
  });
  expect(asked).toEqual({ code: 0, stdout: 'github-token\tsecret\n', stderr: '' });
});

test.each([
  ['no shell', [], /completion needs the name of a shell \(known: bash, zsh, fish\)/],
  ['a misspelled shell', ['fisch'], /did you mean fish\?/],
])('%s is exit code 2', async (_, args, message) => {
  const { code, stdout, stderr } = await runCli(['completion', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
