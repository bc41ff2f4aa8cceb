import { expect, test } from 'vitest';
import { spawnShell } from '../../src/hooks/command-hook.ts';
import type { RegisteredHook } from '../../src/hooks/match-hooks.ts';
import { type HookContext, runHooks } from '../../src/hooks/run-hooks.ts';
import type { HookInput } from '../../src/protocol/hook.ts';
import { command, preToolUse, prompt, started } from './inputs.ts';

const spawn = spawnShell({ cwd: import.meta.dirname, env: { PATH: '/usr/bin:/bin' } });
const silent: HookContext = { callback: () => new Promise(() => {}), spawn };
const run = (hooks: RegisteredHook[], input: HookInput, world = silent) =>
  runHooks(hooks, input, world, { signal: new AbortController().signal });

test('passes the input as JSON on stdin and parses JSON on stdout', async () => {
  const echo = `read -r line; printf '{"systemMessage":%s}' "$(printf '%s' "$line" | sed 's/.*"tool_name":\\("[^"]*"\\).*/\\1/')"`;
  expect((await run([command(echo)], preToolUse('Bash'))).effect).toEqual({ systemMessage: 'Bash' });
});

test('text on stdout is context for a prompt, and ignored for a tool', async () => {
  const context = { additionalContext: 'remember' };
  expect((await run([command('echo remember', 'UserPromptSubmit')], prompt)).effect).toEqual(context);
  expect((await run([command('echo remember', 'SessionStart')], started('startup'))).effect).toEqual(context);
  expect((await run([command('echo remember')], preToolUse('Bash'))).effect).toEqual({});
});

test('exit code 2 blocks with the text on stderr', async () => {
  const { effect, failures } = await run([command('echo no >&2; exit 2')], preToolUse('Bash'));
  expect(effect).toEqual({ decision: 'deny', reason: 'no' });
  expect(failures).toEqual([]);
});

test('a command with arguments runs without a shell, and knows the project', async () => {
  const script =
    'test "$1" = \'$HOME;\' && test "$2" = "$PWD" && test "$CLAUDE_PROJECT_DIR" = "$PWD" && exit 2';
  const hook: RegisteredHook = {
    event: 'PreToolUse',
    target: {
      kind: 'command',
      command: 'sh',
      args: ['-c', script, 'x', '$HOME;', '$' + '{CLAUDE_PROJECT_DIR}'],
    },
  };
  expect((await run([hook], preToolUse('Bash'))).effect.decision).toBe('deny');
});

test('the action does not wait for a command in the background, whose failure is reported', async () => {
  const failed = Promise.withResolvers<unknown>();
  const world = { ...silent, onBackgroundFailure: failed.resolve };
  const hook: RegisteredHook = {
    event: 'PreToolUse',
    target: { kind: 'command', command: 'echo no >&2; exit 1', isBackground: true },
  };
  expect(await run([hook], preToolUse('Bash'), world)).toEqual({ effect: {}, ran: 1, failures: [] });
  expect(await failed.promise).toMatchObject({ message: 'the command exited with code 1: no' });
});

test.each([
  ['exit 1', 'the command exited with code 1'],
  ['echo why >&2; exit 7', 'the command exited with code 7: why'],
  ['kill -9 $$', 'the command was terminated by a signal'],
  ['echo "{oops"', expect.stringContaining('JSON')],
])('%j is a failure', async (text, message) => {
  expect((await run([command(text)], preToolUse('Bash'))).failures).toMatchObject([{ message }]);
});

test('kills a command and its children after the timeout', async () => {
  const ended = Promise.withResolvers<number | null>();
  const world: HookContext = {
    ...silent,
    spawn: async (...given) => {
      const end = await spawn(...given);
      ended.resolve(end.code);
      return end;
    },
  };
  const { effect } = await run(
    [{ ...command('sleep 1000 | cat'), timeoutMs: 50 }],
    preToolUse('Bash'),
    world,
  );
  expect(effect.decision).toBe('deny');
  // The pipes close only when the whole group is gone.
  expect(await ended.promise).toBeNull();
});

test('a command that cannot be started is a failure', async () => {
  const world = { ...silent, spawn: spawnShell({ cwd: '/nowhere/at/all', env: {} }) };
  expect((await run([command('true')], preToolUse('Bash'), world)).failures).toHaveLength(1);
});

test('completes when the shell exits, despite background processes', async () => {
  const hook = {
    ...command('sleep 600 & echo $! >&2; echo remember', 'UserPromptSubmit'),
    timeoutMs: 20_000,
  };
  const left = Promise.withResolvers<number>();
  const world: HookContext = {
    ...silent,
    spawn: async (...given) => {
      const end = await spawn(...given);
      left.resolve(Number(end.stderr));
      return end;
    },
  };
  const { effect, failures } = await run([hook], prompt, world);
  expect({ effect, failures }).toEqual({ effect: { additionalContext: 'remember' }, failures: [] });
  expect(process.kill(await left.promise, 'SIGKILL')).toBe(true);
});
