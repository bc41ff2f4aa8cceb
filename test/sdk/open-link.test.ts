import { expect, test } from 'vitest';
import type { SpawnRequest } from '../../src/control/spawned-process.ts';
import { commandFor, openLink } from '../../src/sdk/open-link.ts';
import type { AgentLaunch, Options } from '../../src/sdk/options.ts';
import { AgentScript } from '../../src/sdk/scripted-agent.ts';

const launch: AgentLaunch = { argv: ['--verbose'], cwd: '/somewhere', env: { A: 'b' } };
const none = () => {
  throw new Error('no default');
};
const open = (options: Options) => openLink(options, launch, none, () => {});

test.each<[string, Options, string, string[]]>([
  ['/a/claude', {}, '/a/claude', ['--verbose']],
  ['claude', {}, 'claude', ['--verbose']],
  ['/a/cli.js', {}, 'node', ['/a/cli.js', '--verbose']],
  ['/a/cli.mjs', {}, 'node', ['/a/cli.mjs', '--verbose']],
  ['/a/cli.ts', { executable: 'deno' }, 'deno', ['/a/cli.ts', '--verbose']],
  ['/a/cli.tsx', { executable: 'bun' }, 'bun', ['/a/cli.tsx', '--verbose']],
  ['/a/cli.jsx', { executableArgs: ['-x'] }, 'node', ['-x', '/a/cli.jsx', '--verbose']],
  ['/a/cli.cjs', { executable: 'bun' }, '/a/cli.cjs', ['--verbose']],
  ['/a/cli.exe', { executableArgs: ['-x'] }, '/a/cli.exe', ['-x', '--verbose']],
])('%s with %o is run as %s', (path, options, command, args) => {
  expect(commandFor(path, options, launch.argv)).toEqual({ command, args });
});

test('a link that is given is used, with what an agent would be started with', () => {
  const script = new AgentScript();
  const link = open({ ...script.options, pathToClaudeCodeExecutable: '/ignored' });
  expect([link, script.launch]).toEqual([script.agent.link, launch]);
});

test('without an agent the default one is asked for', () => {
  const script = new AgentScript();
  const asked: unknown[] = [];
  const options: Options = { model: 'm' };
  const link = openLink(
    options,
    launch,
    (...args) => {
      asked.push(args);
      return script.agent.link;
    },
    () => {},
  );
  expect([link, asked]).toEqual([script.agent.link, [[launch, options]]]);
});

test('a path that does not exist is refused by name, before anything is started (P92)', () => {
  expect(() => open({ pathToClaudeCodeExecutable: '/nowhere/claude' })).toThrow(
    expect.objectContaining({
      code: 'spawn-failed',
      message: 'options.pathToClaudeCodeExecutable: /nowhere/claude does not exist',
    }),
  );
});

test('a cwd that does not exist is told apart from it (P92)', () => {
  const options: Options = { pathToClaudeCodeExecutable: process.execPath };
  expect(() => openLink(options, { ...launch, cwd: '/nowhere' }, none, () => {})).toThrow(
    expect.objectContaining({
      code: 'spawn-failed',
      message: 'The agent cannot be started: cwd /nowhere does not exist',
    }),
  );
});

test.each([
  [{}, 'claude'],
  [{ pathToClaudeCodeExecutable: '/elsewhere/agent' }, '/elsewhere/agent'],
])('a spawner of the user’s gets the whole command (%o)', (options, command) => {
  const requests: SpawnRequest[] = [];
  const spawn = (request: SpawnRequest): never => {
    requests.push(request);
    throw new Error('not today');
  };
  expect(() => open({ ...options, spawnClaudeCodeProcess: spawn })).toThrow('not today');
  expect(requests).toEqual([
    { command, args: ['--verbose'], cwd: '/somewhere', env: { A: 'b' }, signal: expect.any(AbortSignal) },
  ]);
});
