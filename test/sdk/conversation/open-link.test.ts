import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ProcessExitError, type SpawnRequest } from '../../../src/control/process-link.ts';
import { launchArgv } from '../../../src/protocol/launch-flag.ts';
import { SdkError } from '../../../src/protocol/sdk-error.ts';
import { commandFor, explainExit, openLink } from '../../../src/sdk/conversation/open-link.ts';
import type { LaunchPlan, Options } from '../../../src/sdk/options/options.ts';
import { AgentScript } from '../../../src/sdk/testing/agent-script.ts';
import { collect } from '../../support/collect.ts';

describe('open link', () => {
  const HERE = fileURLToPath(new URL('.', import.meta.url)).replace(/[/\\]$/, '');

  const launch: LaunchPlan = { flags: [], cwd: '/somewhere', env: { A: 'b' } };
  const none = () => {
    throw new Error('no default');
  };
  const open = (options: Options) => openLink(options, launch, none, { onNoise: () => {} });

  test.each<[string, Options, string, string[]]>([
    ['/a/claude', {}, '/a/claude', ['--verbose']],
    ['claude', {}, 'claude', ['--verbose']],
    ['/a/cli.js', {}, 'node', ['/a/cli.js', '--verbose']],
    ['/a/cli.mjs', {}, 'node', ['/a/cli.mjs', '--verbose']],
    ['/a/cli.ts', { executable: 'deno' }, 'deno', ['/a/cli.ts', '--verbose']],
    ['/a/cli.tsx', { executable: 'bun' }, 'bun', ['/a/cli.tsx', '--verbose']],
    ['/a/cli.jsx', { executableArgs: ['-x'] }, 'node', ['-x', '/a/cli.jsx', '--verbose']],
    ['/a/cli.cjs', { executable: 'bun' }, 'bun', ['/a/cli.cjs', '--verbose']],
    ['/a/cli.mts', {}, 'node', ['/a/cli.mts', '--verbose']],
    ['/a/cli.cts', {}, 'node', ['/a/cli.cts', '--verbose']],
    ['/a/cli.mtsx', {}, '/a/cli.mtsx', ['--verbose']],
    ['/a/cli.exe', { executableArgs: ['-x'] }, '/a/cli.exe', ['-x', '--verbose']],
  ])('%s with %o runs %s', (path, options, command, args) => {
    expect(commandFor(path, options, ['--verbose'])).toEqual({ command, args });
  });

  test('uses a given link with the launch parameters', () => {
    const script = new AgentScript();
    const link = open({ ...script.options, pathToClaudeCodeExecutable: '/ignored' });
    const { flags, ...place } = launch;
    expect([link, script.launch]).toEqual([script.agent.link, { argv: launchArgv(flags), ...place }]);
  });

  test('without an agent the default one is used', () => {
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
      { onNoise: () => {} },
    );
    expect([link, asked]).toEqual([script.agent.link, [[launch, options]]]);
  });

  test.each([
    ['/nowhere/claude', '/somewhere'],
    ['/nowhere/cli.mjs', '/somewhere'],
    ['./nowhere', HERE],
    ['fixtures/../nowhere.sh', HERE],
    ['nowhere.mjs', HERE],
    ['./nowhere', undefined],
  ])('%s, which does not exist in %s, is rejected before anything is started', (path, cwd) => {
    const options: Options = { pathToClaudeCodeExecutable: path };
    expect(() => openLink(options, { ...launch, cwd }, none, { onNoise: () => {} })).toThrow(
      expect.objectContaining({
        code: 'spawn-failed',
        message: `options.pathToClaudeCodeExecutable: ${path} does not exist`,
      }),
    );
  });

  test('a path is read from the cwd; a bare command is looked for on the PATH', async () => {
    const script = '../../support/fixtures/agent.mjs';
    for (const [path, before] of [
      [script, []],
      ['node', [script]],
    ] as const) {
      const options: Options = { pathToClaudeCodeExecutable: path, executableArgs: [...before] };
      const { PATH } = process.env;
      const link = openLink(options, { ...launch, cwd: HERE, env: { PATH } }, none, { onNoise: () => {} });
      const [introduced] = await collect(link.frames);
      expect(introduced).toMatchObject({ type: 'introduced', cwd: HERE });
    }
  });

  test('stderr and noise of the agent go to the listeners', async () => {
    const heard: string[] = [];
    const talk = "console.error('on stderr'); console.log('no frame')";
    const options: Options = {
      pathToClaudeCodeExecutable: process.execPath,
      executableArgs: ['-e', talk, '--'],
      stderr: () => expect.unreachable('the option itself is not guarded'),
    };
    const link = openLink(options, { ...launch, cwd: HERE }, none, {
      onNoise: (line) => heard.push(`noise: ${line}`),
      onStderr: (text) => heard.push(`stderr: ${text}`),
    });
    await collect(link.frames);
    expect(heard.sort()).toEqual(['noise: no frame', 'stderr: on stderr\n']);
  });

  test('a missing cwd has its own error', () => {
    const options: Options = { pathToClaudeCodeExecutable: process.execPath };
    expect(() => openLink(options, { ...launch, cwd: '/nowhere' }, none, { onNoise: () => {} })).toThrow(
      expect.objectContaining({
        code: 'spawn-failed',
        message:
          'The agent cannot be started: cwd /nowhere does not exist; create the directory, or set another cwd',
      }),
    );
  });

  test.each([
    [{}, 'claude'],
    [{ pathToClaudeCodeExecutable: '/elsewhere/agent' }, '/elsewhere/agent'],
  ])('a custom spawner gets the complete command (%o)', (options, command) => {
    const requests: SpawnRequest[] = [];
    const spawn = (request: SpawnRequest): never => {
      requests.push(request);
      throw new Error('not today');
    };
    expect(() => open({ ...options, spawnClaudeCodeProcess: spawn })).toThrow('not today');
    expect(requests).toEqual([
      { command, args: launchArgv([]), cwd: '/somewhere', env: { A: 'b' }, signal: expect.any(AbortSignal) },
    ]);
  });
});

describe('exit reason', () => {
  const exit = new ProcessExitError(1, null, ['last words']);
  const failed = { type: 'result', is_error: true, subtype: 'error_during_execution' };

  test.each<[string, object, string]>([
    ['its errors', { ...failed, errors: ['one', 'two'], result: 'r' }, 'one; two'],
    ['its errors, blank and odd ones left out', { ...failed, errors: ['', ' ', null, 7, 'two'] }, 'two'],
    ['its text', { ...failed, subtype: 'success', result: 'the text' }, 'the text'],
  ])('an exit after an error result reports %s instead of the exit code', (_, result, said) => {
    const told = explainExit(exit, result as Record<string, unknown>) as SdkError;
    expect(told).toBeInstanceOf(SdkError);
    expect({ code: told.code, message: told.message, cause: told.cause }).toEqual({
      code: 'process-exited',
      message: `Claude Code returned an error result: ${said}`,
      cause: exit,
    });
  });

  test.each<[string, Record<string, unknown> | undefined]>([
    ['no result', undefined],
    ['a good result', { type: 'result', is_error: false, result: 'fine' }],
    ['an error result without a text', { ...failed, errors: [''], result: 'x' }],
  ])('an exit after %s keeps its error', (_, result) => {
    expect(explainExit(exit, result)).toBe(exit);
  });

  test('other errors are unchanged', () => {
    const cause = new TypeError('x');
    expect(explainExit(cause, failed)).toBe(cause);
  });
});
